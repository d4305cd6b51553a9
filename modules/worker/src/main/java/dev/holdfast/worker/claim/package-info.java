/**
 * Claims jobs for free slots.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.worker.claim;

import org.jspecify.annotations.NullMarked;
