/**
 * Finds secrets in text, lines and streams, and replaces them.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release; except {@link
 * dev.holdfast.redaction.Scrubber}.
 */
@NullMarked
package dev.holdfast.redaction;

import org.jspecify.annotations.NullMarked;
