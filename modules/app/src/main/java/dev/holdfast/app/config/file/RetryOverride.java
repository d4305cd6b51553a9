package dev.holdfast.app.config.file;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How jobs of a kind or a queue are retried, as {@code retries.kinds.{kind}} and {@code
 * retries.queues.{queue}} in holdfast.yaml describe it. What is missing is as for all jobs.
 */
public record RetryOverride(String name, @Nullable Integer maxAttempts, RetryDelays delays) {
  public static final int MOST_ATTEMPTS = 1_000;

  private static final List<String> KEYS = List.of("maxAttempts", "delay", "factor", "maxDelay");

  static RetryOverride ofKind(String kind, JsonNode node, Path folder) throws Nodes.WrongException {
    return read("retries.kinds." + kind, kind, node, Limits::kind);
  }

  static RetryOverride ofQueue(String queue, JsonNode node, Path folder)
      throws Nodes.WrongException {
    return read("retries.queues." + queue, queue, node, Limits::queue);
  }

  private static RetryOverride read(
      String at, String name, JsonNode node, UnaryOperator<String> check)
      throws Nodes.WrongException {
    Nodes.requireKnown(at, node, KEYS);
    try {
      RetryOverride override =
          new RetryOverride(
              check.apply(name),
              Nodes.whole(at + ".maxAttempts", node.get("maxAttempts"), 1, MOST_ATTEMPTS),
              RetryDelays.read(at, node));
      var unused = override.delays().over(RetryPolicy.DEFAULT);
      return override;
    } catch (RefusedException refused) {
      throw new Nodes.WrongException(at + ": " + refused.getMessage());
    }
  }
}
