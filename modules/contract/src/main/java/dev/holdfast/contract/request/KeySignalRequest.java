package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.value.Json;
import org.jspecify.annotations.Nullable;

/**
 * Something to tell the job that holds a unique key.
 *
 * @param kind of the job
 * @param tenant of the job; the caller's unless given
 * @param payload null for an empty object
 * @param key of two signals to a job with the same key only the first counts
 */
public record KeySignalRequest(
    String kind,
    String uniqueKey,
    @Nullable String tenant,
    String name,
    @Nullable Json payload,
    @Nullable String key) {
  public KeySignalRequest {
    Wire.present("kind", kind);
    Wire.present("uniqueKey", uniqueKey);
    Wire.present("name", name);
  }
}
