/**
 * Extends the leases of running attempts, and hears of cancels and commands.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.worker.lease;

import org.jspecify.annotations.NullMarked;
