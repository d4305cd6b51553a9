package dev.holdfast.contract.request;

import dev.holdfast.model.value.Limits;
import org.jspecify.annotations.Nullable;

/** What may be said with a pause or its end. */
public record PauseRequest(@Nullable String reason) {
  /** Nothing is said. */
  public static final PauseRequest NONE = new PauseRequest(null);

  public PauseRequest {
    if (reason != null) {
      Limits.reason(reason);
    }
  }
}
