/**
 * Attempts whose worker is gone, and jobs past their deadline.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.recover;

import org.jspecify.annotations.NullMarked;
