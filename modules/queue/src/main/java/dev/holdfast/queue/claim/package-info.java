/** Due jobs are given to workers, in order and within limits. */
@NullMarked
package dev.holdfast.queue.claim;

import org.jspecify.annotations.NullMarked;
