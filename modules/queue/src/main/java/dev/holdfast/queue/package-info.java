/** Entry point to PostgreSQL: every operation on jobs, queues, schedules and workers. */
@NullMarked
package dev.holdfast.queue;

import org.jspecify.annotations.NullMarked;
