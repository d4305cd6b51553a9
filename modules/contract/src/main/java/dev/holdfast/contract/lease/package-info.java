/**
 * The worker protocol of leases in batches, for Java workers.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.contract.lease;

import org.jspecify.annotations.NullMarked;
