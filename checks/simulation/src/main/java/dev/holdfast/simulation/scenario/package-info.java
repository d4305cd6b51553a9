/**
 * Workers as they ship, in processes that are killed, frozen and cut off, and the rules that must
 * hold meanwhile.
 */
@NullMarked
package dev.holdfast.simulation.scenario;

import org.jspecify.annotations.NullMarked;
