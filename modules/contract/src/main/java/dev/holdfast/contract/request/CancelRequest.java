package dev.holdfast.contract.request;

import dev.holdfast.model.value.Limits;
import org.jspecify.annotations.Nullable;

/**
 * How a job is cancelled.
 *
 * @param cascade whether its children are cancelled, too
 */
public record CancelRequest(@Nullable String reason, @Nullable Boolean cascade) {
  /** Without a reason, and the job alone. */
  public static final CancelRequest NONE = new CancelRequest(null, null);

  public CancelRequest {
    if (reason != null) {
      Limits.reason(reason);
    }
  }

  public boolean cascades() {
    return cascade != null && cascade;
  }
}
