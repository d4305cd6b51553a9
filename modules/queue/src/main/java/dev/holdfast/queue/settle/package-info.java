/**
 * An attempt ends: succeeded, failed, released.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.settle;

import org.jspecify.annotations.NullMarked;
