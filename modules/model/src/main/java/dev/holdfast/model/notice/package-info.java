/** Notices of questions: what servers tell others, and what became of each question. */
@NullMarked
package dev.holdfast.model.notice;

import org.jspecify.annotations.NullMarked;
