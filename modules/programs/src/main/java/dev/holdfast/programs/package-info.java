/** Programs as handlers. */
@NullMarked
package dev.holdfast.programs;

import org.jspecify.annotations.NullMarked;
