/** Traces of jobs for OpenTelemetry. */
@NullMarked
package dev.holdfast.opentelemetry;

import org.jspecify.annotations.NullMarked;
