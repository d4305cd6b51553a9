package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue that has settings or unfinished jobs.
 *
 * @param pausedAt since when it is paused by itself
 * @param workersPausedAt since when all workers are paused, and every queue with them
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record QueueResource(
    String name,
    long due,
    long delayed,
    long retrying,
    long waiting,
    long running,
    @Nullable Integer maxRunning,
    @Nullable Rate rateLimit,
    @Nullable Instant pausedAt,
    @Nullable Instant workersPausedAt,
    @Nullable Long oldestDueAgeMs) {
  public QueueResource {
    Wire.present("name", name);
  }

  public static QueueResource of(QueueStatus queue) {
    return new QueueResource(
        queue.name(),
        queue.due(),
        queue.delayed(),
        queue.retrying(),
        queue.waiting(),
        queue.running(),
        queue.maxRunning(),
        queue.rateLimit() == null ? null : Rate.of(queue.rateLimit()),
        queue.pausedAt(),
        queue.workersPausedAt(),
        millis(queue.oldest()));
  }

  public QueueStatus status() {
    return new QueueStatus(
        name,
        due,
        delayed,
        retrying,
        waiting,
        running,
        maxRunning,
        rateLimit == null ? null : rateLimit.limit(),
        pausedAt,
        workersPausedAt,
        oldestDueAgeMs == null ? null : Duration.ofMillis(oldestDueAgeMs),
        null,
        false,
        null);
  }

  private static @Nullable Long millis(@Nullable Duration duration) {
    return duration == null ? null : Long.valueOf(duration.toMillis());
  }

  /** How many jobs may start per period. */
  public record Rate(int starts, long periodMs) {
    public static Rate of(RateLimit limit) {
      return new Rate(limit.starts(), limit.period().toMillis());
    }

    public RateLimit limit() {
      return new RateLimit(starts, Duration.ofMillis(periodMs));
    }
  }

  /** The limits of a queue as they are set: one that is absent is lifted. */
  public record Limits(@Nullable Integer maxRunning, @Nullable Rate rateLimit) {}

  /** All queues. */
  public record Queues(List<QueueResource> queues) {
    public Queues {
      queues = List.copyOf(Wire.present("queues", queues));
    }
  }

  /**
   * A queue with where its tasks are pushed to; null where they are not.
   *
   * @param created true in the answer to a setting of a queue that was not known before; otherwise
   *     absent
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Dispatched(
      @JsonUnwrapped QueueResource queue,
      @Nullable Dispatch dispatch,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean created) {}

  /**
   * Where tasks are pushed to.
   *
   * @param url without user, query and fragment, which may hold secrets
   */
  public record Dispatch(String url, int maxInFlight) {}
}
