/**
 * Due jobs are given to workers, in order and within limits.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.claim;

import org.jspecify.annotations.NullMarked;
