/**
 * Schedules, and the jobs that they enqueue.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.schedule;

import org.jspecify.annotations.NullMarked;
