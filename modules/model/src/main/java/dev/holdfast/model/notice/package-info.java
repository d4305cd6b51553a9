/**
 * Notices of questions: what servers tell others, and what became of each question.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.model.notice;

import org.jspecify.annotations.NullMarked;
