package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known about an artifact once it is published.
 *
 * @param store where its file lies
 * @param result what the job's result is, should a later attempt find nothing left to do
 */
public record PublishedArtifact(
    Artifact artifact, int attempt, String store, Instant publishedAt, @Nullable Json result) {}
