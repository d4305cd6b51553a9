/** What a worker is told about itself: timings, limits, backpressure. */
@NullMarked
package dev.holdfast.worker.config;

import org.jspecify.annotations.NullMarked;
