/** A worker: claims jobs, runs them, settles them. */
@NullMarked
package dev.holdfast.worker;

import org.jspecify.annotations.NullMarked;
