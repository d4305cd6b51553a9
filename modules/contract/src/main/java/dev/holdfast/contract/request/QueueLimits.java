package dev.holdfast.contract.request;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.json.WireException;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.value.Limits;
import org.jspecify.annotations.Nullable;

/** Limits of a queue to be set: one that is absent stays, and one that is null is lifted. */
public record QueueLimits(@Nullable JsonNode maxRunning, @Nullable JsonNode rateLimit) {
  public QueueLimits {
    if (maxRunning == null && rateLimit == null) {
      throw new WireException(
          WireException.Kind.WRONG_VALUE, "one of 'maxRunning' and 'rateLimit' must be given");
    }
  }

  /** Only that of the jobs that run at once. */
  public static QueueLimits running(@Nullable Integer maxRunning) {
    return new QueueLimits(Wire.node(maxRunning), null);
  }

  public static QueueLimits rate(@Nullable RateLimit rateLimit) {
    return new QueueLimits(null, Wire.node(rateLimit));
  }

  /** Of a limit that is given. */
  public @Nullable Integer runningAtOnce() {
    Integer most = read(maxRunning, Integer.class);
    Limits.maxRunning(most);
    return most;
  }

  public @Nullable RateLimit rate() {
    return read(rateLimit, RateLimit.class);
  }

  private static <T> @Nullable T read(@Nullable JsonNode node, Class<T> type) {
    return node == null || node.isNull() ? null : Wire.read(node, type);
  }
}
