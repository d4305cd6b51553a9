/**
 * Worker processes and their supervisors.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.health;

import org.jspecify.annotations.NullMarked;
