/**
 * Runs the worker, the supervisor and the step loop as they ship on virtual time, by a seed,
 * against a model of the queue; compares the model with PostgreSQL; and plants faults, to see that
 * they are found.
 */
@NullMarked
package dev.holdfast.simulation;

import org.jspecify.annotations.NullMarked;
