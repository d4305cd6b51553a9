/** Claims of many jobs that write one row, and the jobs in them. */
@NullMarked
package dev.holdfast.queue.batch;

import org.jspecify.annotations.NullMarked;
