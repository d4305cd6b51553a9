/**
 * Jobs as they are shown: one, a list, counts, changes.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.read;

import org.jspecify.annotations.NullMarked;
