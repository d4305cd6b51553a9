package dev.holdfast.model.ops;

import java.time.Duration;
import java.time.Instant;

/**
 * How many jobs of a queue ended within one second.
 *
 * @param second when that second began, by the database's clock
 * @param runTime of the last attempts of those that succeeded, all together
 */
public record Throughput(
    String queue, Instant second, long succeeded, long failed, long cancelled, Duration runTime) {}
