/**
 * Leases: extended by heartbeats, and when they have run out.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.lease;

import org.jspecify.annotations.NullMarked;
