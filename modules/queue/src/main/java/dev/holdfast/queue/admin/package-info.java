/** Queues, API keys, signing keys, retention. */
@NullMarked
package dev.holdfast.queue.admin;

import org.jspecify.annotations.NullMarked;
