/**
 * Programs: as handlers of a kind, and run by handlers. {@link dev.holdfast.programs.ProgramRunner}
 * attaches them to an attempt, so that they end with it.
 */
@NullMarked
package dev.holdfast.programs;

import org.jspecify.annotations.NullMarked;
