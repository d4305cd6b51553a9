/**
 * Queues, API keys, signing keys.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.admin;

import org.jspecify.annotations.NullMarked;
