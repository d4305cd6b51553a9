package dev.holdfast.worker.maintenance;

import dev.holdfast.worker.source.Loop;
import java.time.Duration;

/**
 * A task that a queue needs done again and again. Any number of processes do it at the same time.
 *
 * @param round does it once; the answer is how long until the next round is due
 * @param retry how long after a round that failed
 */
public record Periodic(String name, Loop.Work round, Duration retry) {}
