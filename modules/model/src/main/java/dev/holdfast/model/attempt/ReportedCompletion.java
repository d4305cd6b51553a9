package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What the worker of an attempt reported at its end, besides how it ended. */
public record ReportedCompletion(
    int attempt,
    @Nullable Instant completedAt,
    Instant receivedAt,
    @Nullable Json metrics,
    @Nullable Json partialProgress,
    @Nullable String cancelledDuringPhase) {}
