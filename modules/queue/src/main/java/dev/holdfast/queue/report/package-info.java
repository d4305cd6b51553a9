/** What an attempt reports before it ends: events, steps, artifacts, log lines. */
@NullMarked
package dev.holdfast.queue.report;

import org.jspecify.annotations.NullMarked;
