/** Metrics of the library for Micrometer. */
@NullMarked
package dev.holdfast.micrometer;

import org.jspecify.annotations.NullMarked;
