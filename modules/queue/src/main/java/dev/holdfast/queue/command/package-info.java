/**
 * Operators' commands: cancel, retry, and what a running job is asked to do.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.command;

import org.jspecify.annotations.NullMarked;
