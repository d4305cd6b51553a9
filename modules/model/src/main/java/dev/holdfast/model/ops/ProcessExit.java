package dev.holdfast.model.ops;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How one process of a supervised worker ended.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param pid null if no process could be started
 * @param status STOPPING if it was asked to end, otherwise CRASHED or FAILED
 * @param exit null if it had no code
 */
public record ProcessExit(
    String supervisor,
    @Nullable Long pid,
    @Nullable Instant startedAt,
    Instant endedAt,
    HealthStatus status,
    @Nullable WorkerExit exit,
    String reason) {}
