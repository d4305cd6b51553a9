package dev.holdfast.model;

import java.time.Instant;
import java.util.List;

/** A worker, as far as the jobs it runs tell about it. */
public record WorkerStatus(
    String worker, long jobs, Instant oldestStart, Instant lastHeartbeat, List<String> queues) {}
