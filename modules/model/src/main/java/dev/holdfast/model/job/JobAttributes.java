package dev.holdfast.model.job;

import dev.holdfast.model.value.Json;
import org.jspecify.annotations.Nullable;

/**
 * What a job brings along for its worker. Whoever enqueues it and its worker know what that means;
 * here it is kept and handed on, and nothing is decided by it.
 *
 * @param assetId what the job makes, where that has a name of its own
 * @param partitionKey which part of it
 * @param resources what the job needs, an object; empty where nothing is said
 * @param traceparent the {@linkplain Traceparent trace} it belongs to
 */
public record JobAttributes(
    @Nullable String assetId,
    @Nullable String partitionKey,
    Json resources,
    @Nullable String traceparent) {
  public static final JobAttributes NONE = new JobAttributes(null, null, Json.EMPTY, null);
}
