/** Faults that are planted into a copy of the code, to see that the tools find them. */
@NullMarked
package dev.holdfast.simulation.planted;

import org.jspecify.annotations.NullMarked;
