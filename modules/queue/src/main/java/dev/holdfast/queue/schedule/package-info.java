/** Schedules, and the jobs that they enqueue. */
@NullMarked
package dev.holdfast.queue.schedule;

import org.jspecify.annotations.NullMarked;
