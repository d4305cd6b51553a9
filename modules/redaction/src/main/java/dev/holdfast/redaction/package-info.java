/** Finds secrets in text, lines and streams, and replaces them. */
@NullMarked
package dev.holdfast.redaction;

import org.jspecify.annotations.NullMarked;
