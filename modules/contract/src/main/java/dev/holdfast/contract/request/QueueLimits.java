package dev.holdfast.contract.request;

import dev.holdfast.model.ops.RateLimit;
import org.jspecify.annotations.Nullable;

/** The limits of a queue as they are set: one that is absent is lifted. */
public record QueueLimits(@Nullable Integer maxRunning, @Nullable RateLimit rateLimit) {}
