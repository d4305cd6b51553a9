/**
 * Notices: what servers tell others of the questions that jobs ask.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.notice;

import org.jspecify.annotations.NullMarked;
