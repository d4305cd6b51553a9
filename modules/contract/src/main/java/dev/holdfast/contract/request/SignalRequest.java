package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.value.Json;
import org.jspecify.annotations.Nullable;

/**
 * Something to tell a job.
 *
 * @param payload null for an empty object
 * @param key of two signals to a job with the same key only the first counts
 */
public record SignalRequest(String name, @Nullable Json payload, @Nullable String key) {
  public SignalRequest {
    Wire.present("name", name);
  }

  /** Whether it was told before, by a signal with the same key. */
  public record Answer(boolean duplicate) {}
}
