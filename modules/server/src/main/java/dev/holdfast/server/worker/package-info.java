/** The routes of workers: leases, callbacks, heartbeats, steps, long polls. */
@NullMarked
package dev.holdfast.server.worker;

import org.jspecify.annotations.NullMarked;
