/** The model beside the real queue: the same calls, and the same answers and rows expected. */
@NullMarked
package dev.holdfast.simulation.compare;

import org.jspecify.annotations.NullMarked;
