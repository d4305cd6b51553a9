/**
 * Counts of jobs and their times by minute, queue and kind, which outlive the jobs.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.history;

import org.jspecify.annotations.NullMarked;
