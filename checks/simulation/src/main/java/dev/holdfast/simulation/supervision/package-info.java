/**
 * What a simulated supervisor has instead of the tables of worker processes and of the processes
 * themselves. Its own classes are those that ship: when they are loaded, these take the place of
 * {@code WorkerRegistry}, {@code Companion} and what belongs to them.
 */
@NullMarked
package dev.holdfast.simulation.supervision;

import org.jspecify.annotations.NullMarked;
