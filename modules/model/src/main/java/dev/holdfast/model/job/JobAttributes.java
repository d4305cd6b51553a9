package dev.holdfast.model.job;

import dev.holdfast.model.value.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Values that a job passes to its worker. They are stored and passed on; of all of them, Holdfast
 * itself uses only the tags, to find jobs.
 *
 * @param assetId the name of what the job makes
 * @param partitionKey which part of it
 * @param resources what the job needs, a JSON object; may be empty
 * @param traceparent the {@linkplain Traceparent trace} it belongs to
 * @param tags words by which it is found, in their order
 */
public record JobAttributes(
    @Nullable String assetId,
    @Nullable String partitionKey,
    Json resources,
    @Nullable String traceparent,
    List<String> tags) {
  /** Of a job that passes nothing. */
  public static final JobAttributes NONE =
      new JobAttributes(null, null, Json.EMPTY, null, List.of());

  public JobAttributes {
    tags = List.copyOf(tags);
  }
}
