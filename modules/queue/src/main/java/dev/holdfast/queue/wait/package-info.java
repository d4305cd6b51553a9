/**
 * Waits of handlers: how an attempt is suspended, and what makes its job claimable again.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.wait;

import org.jspecify.annotations.NullMarked;
