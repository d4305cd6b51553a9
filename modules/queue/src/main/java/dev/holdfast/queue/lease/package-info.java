/** Leases: extended by heartbeats, and when they have run out. */
@NullMarked
package dev.holdfast.queue.lease;

import org.jspecify.annotations.NullMarked;
