package dev.holdfast.app.config.file;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.model.job.RetryPolicy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parts of a retry policy that the file names; each of them may be missing. */
public record RetryDelays(
    @Nullable Duration delay, @Nullable Double factor, @Nullable Duration maxDelay) {
  static final List<String> KEYS = List.of("delay", "factor", "maxDelay");

  static RetryDelays read(String at, JsonNode node) throws Nodes.WrongException {
    try {
      return new RetryDelays(
          duration(node.get("delay")),
          node.has("factor") ? Double.valueOf(node.get("factor").asText()) : null,
          duration(node.get("maxDelay")));
    } catch (IllegalArgumentException wrong) {
      throw new Nodes.WrongException(at + ": " + wrong.getMessage());
    }
  }

  /** Null when every part is missing. */
  public @Nullable RetryPolicy over(RetryPolicy usual) {
    return delay == null && factor == null && maxDelay == null
        ? null
        : new RetryPolicy(
            delay == null ? usual.base() : delay,
            factor == null ? usual.factor() : factor,
            maxDelay == null ? usual.max() : maxDelay);
  }

  private static @Nullable Duration duration(@Nullable JsonNode node) {
    return node == null ? null : Durations.parse(node.asText());
  }
}
