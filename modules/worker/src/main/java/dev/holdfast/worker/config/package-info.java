/** Settings of a worker: timings, limits, backpressure. */
@NullMarked
package dev.holdfast.worker.config;

import org.jspecify.annotations.NullMarked;
