package dev.holdfast.simulation.trace;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a run went.
 *
 * @param violation the first rule that was broken; null when all held
 * @param lines what happened, the calls of the queue among it, in order
 * @param calls the calls of the queue
 * @param counts how often what happened, such as a fault
 */
public record Outcome(
    long seed,
    @Nullable String violation,
    List<String> lines,
    List<Call> calls,
    java.util.Map<String, Integer> counts,
    long switches,
    long virtualNanos) {}
