/** What happened in a run: calls of the queue, and what broke a rule. Texts only. */
@NullMarked
package dev.holdfast.simulation.trace;

import org.jspecify.annotations.NullMarked;
