package dev.holdfast.model.wait;

import java.time.Duration;

/**
 * How many jobs of a kind wait for the same sort of thing.
 *
 * @param oldest how long the first of them has waited
 */
public record WaitCount(String kind, WaitSort sort, long jobs, Duration oldest) {}
