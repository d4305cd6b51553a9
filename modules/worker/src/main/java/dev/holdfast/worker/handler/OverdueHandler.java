package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.Lease;
import java.time.Duration;

/**
 * A handler that still runs although its attempt was abandoned: it was told to stop, by a timeout
 * or a cancel, and did not within the grace period. Java cannot end its thread.
 *
 * @param since when the attempt was abandoned
 */
public record OverdueHandler(String kind, Lease lease, Duration since) {}
