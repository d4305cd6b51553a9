package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A published artifact.
 *
 * @param store the store that holds its file; null to an operator, who cannot read it there
 * @param result the result of the job, for a later attempt that finds its artifacts published
 */
public record PublishedArtifact(
    Artifact artifact,
    int attempt,
    @Nullable String store,
    Instant publishedAt,
    @Nullable Json result) {}
