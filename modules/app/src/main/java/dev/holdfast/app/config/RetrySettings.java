package dev.holdfast.app.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How jobs of a kind or a queue are retried, as {@code retries.kinds.{kind}} and {@code
 * retries.queues.{queue}} in holdfast.yaml say it. What is left out is as for all jobs.
 */
public record RetrySettings(String name, @Nullable Integer maxAttempts, Delays delays) {
  private static final List<String> KEYS = List.of("maxAttempts", "delay", "factor", "longest");
  private static final int MOST_ATTEMPTS = 1_000;

  /** What a policy is made of, as far as it is said. */
  record Delays(@Nullable Duration delay, @Nullable Double factor, @Nullable Duration longest) {
    static final List<String> KEYS = List.of("delay", "factor", "longest");

    static Delays read(String at, JsonNode node) throws ProgramSettings.WrongException {
      try {
        return new Delays(
            duration(node.get("delay")),
            node.has("factor") ? Double.valueOf(node.get("factor").asText()) : null,
            duration(node.get("longest")));
      } catch (IllegalArgumentException wrong) {
        throw new ProgramSettings.WrongException(at + ": " + wrong.getMessage());
      }
    }

    /** Null when nothing is said. */
    @Nullable RetryPolicy policy(RetryPolicy usual) {
      return delay == null && factor == null && longest == null
          ? null
          : new RetryPolicy(
              delay == null ? usual.base() : delay,
              factor == null ? usual.factor() : factor,
              longest == null ? usual.max() : longest);
    }

    private static @Nullable Duration duration(@Nullable JsonNode node) {
      return node == null ? null : Durations.parse(node.asText());
    }
  }

  /** All of them in a file. */
  record InFile(List<RetrySettings> kinds, List<RetrySettings> queues) {
    static final InFile NONE = new InFile(List.of(), List.of());
  }

  static RetrySettings ofKind(String kind, JsonNode node, Path folder)
      throws ProgramSettings.WrongException {
    return read("retries.kinds." + kind, kind, node, Limits::kind);
  }

  static RetrySettings ofQueue(String queue, JsonNode node, Path folder)
      throws ProgramSettings.WrongException {
    return read("retries.queues." + queue, queue, node, Limits::queue);
  }

  private static RetrySettings read(
      String at, String name, JsonNode node, UnaryOperator<String> check)
      throws ProgramSettings.WrongException {
    ProgramSettings.known(at, node, KEYS);
    try {
      RetrySettings settings =
          new RetrySettings(
              check.apply(name),
              QueueSettings.whole(at + ".maxAttempts", node.get("maxAttempts"), 1, MOST_ATTEMPTS),
              Delays.read(at, node));
      var unused = settings.delays().policy(RetryPolicy.DEFAULT);
      return settings;
    } catch (RefusedException refused) {
      throw new ProgramSettings.WrongException(at + ": " + refused.getMessage());
    }
  }

  /** What holds for jobs that this process writes or settles. */
  public static RetryDefaults defaults(Settings settings) {
    InFile file = settings.retries();
    try {
      RetryPolicy usual =
          new RetryPolicy(
              settings.duration(Setting.RETRY_DELAY),
              settings.number(Setting.RETRY_FACTOR),
              settings.duration(Setting.RETRY_LONGEST));
      return new RetryDefaults(
          new Retries(settings.within(Setting.MAX_ATTEMPTS, 1, MOST_ATTEMPTS), usual),
          byName(file.kinds(), usual),
          byName(file.queues(), usual));
    } catch (RefusedException wrong) {
      throw WorkerSettings.wrong(wrong);
    }
  }

  private static Map<String, Retries> byName(List<RetrySettings> all, RetryPolicy usual) {
    Map<String, Retries> byName = new HashMap<>();
    all.forEach(
        each ->
            byName.put(each.name(), new Retries(each.maxAttempts(), each.delays().policy(usual))));
    return byName;
  }
}
