package dev.holdfast.model.job;

import dev.holdfast.model.value.Json;
import org.jspecify.annotations.Nullable;

/**
 * Values that a job passes to its worker. They are stored and passed on; Holdfast itself does not
 * interpret them.
 *
 * @param assetId the name of what the job makes
 * @param partitionKey which part of it
 * @param resources what the job needs, a JSON object; may be empty
 * @param traceparent the {@linkplain Traceparent trace} it belongs to
 */
public record JobAttributes(
    @Nullable String assetId,
    @Nullable String partitionKey,
    Json resources,
    @Nullable String traceparent) {
  public static final JobAttributes NONE = new JobAttributes(null, null, Json.EMPTY, null);
}
