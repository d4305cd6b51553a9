/**
 * One attempt: started, run, settled, cleaned up. {@link
 * dev.holdfast.worker.attempt.AttemptExecutor} is the pipeline; of what a handler can do through
 * its context, each concern is one class: stopping, reports, files, steps.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.worker.attempt;

import org.jspecify.annotations.NullMarked;
