/**
 * The loops beside the attempts: claim, heartbeat, watch, recover.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release; except {@link
 * dev.holdfast.worker.lease.Upkeep}.
 */
@NullMarked
package dev.holdfast.worker.lease;

import org.jspecify.annotations.NullMarked;
