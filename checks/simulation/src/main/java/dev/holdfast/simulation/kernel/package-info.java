/**
 * Virtual time and a deterministic scheduler: production code runs here unchanged, except that its
 * clocks, threads, locks and random numbers are replaced when its classes are loaded.
 */
@NullMarked
package dev.holdfast.simulation.kernel;

import org.jspecify.annotations.NullMarked;
