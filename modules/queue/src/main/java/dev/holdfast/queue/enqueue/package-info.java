/**
 * Jobs are added, one at a time, many at a time, and once per idempotency key.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.enqueue;

import org.jspecify.annotations.NullMarked;
