/** A job, its state and what is known of it: what callers enqueue and read. */
@NullMarked
package dev.holdfast.model.job;

import org.jspecify.annotations.NullMarked;
