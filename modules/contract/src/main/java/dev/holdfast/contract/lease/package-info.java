/** The worker protocol of leases in batches, for Java workers. */
@NullMarked
package dev.holdfast.contract.lease;

import org.jspecify.annotations.NullMarked;
