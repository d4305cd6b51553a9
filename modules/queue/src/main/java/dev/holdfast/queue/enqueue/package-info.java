/** Jobs are added, one at a time, many at a time, and once per idempotency key. */
@NullMarked
package dev.holdfast.queue.enqueue;

import org.jspecify.annotations.NullMarked;
