/** The loops beside the attempts: claim, heartbeat, watch, recover. */
@NullMarked
package dev.holdfast.worker.lease;

import org.jspecify.annotations.NullMarked;
