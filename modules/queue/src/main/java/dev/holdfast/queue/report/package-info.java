/**
 * What an attempt reports before it ends: events, steps, artifacts, log lines.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.report;

import org.jspecify.annotations.NullMarked;
