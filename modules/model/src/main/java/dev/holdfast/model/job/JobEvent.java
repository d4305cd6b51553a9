package dev.holdfast.model.job;

import dev.holdfast.model.value.Json;
import java.time.Instant;

/** One entry of a job's timeline. Numbers start at 1 and have no gaps. */
public record JobEvent(int number, String type, int attempt, Instant at, Json data) {}
