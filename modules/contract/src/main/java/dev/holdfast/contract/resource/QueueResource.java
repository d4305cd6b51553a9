package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.model.ops.Pause;
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
 * @param pause who has paused it by itself; null for keys of one tenant
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
    @Nullable Paused pause,
    @Nullable Long oldestDueAgeMs) {
  public QueueResource {
    Wire.present("name", name);
  }

  public static QueueResource of(QueueStatus queue, @Nullable Pause pause) {
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
        Paused.of(pause),
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

  /** Who has paused something, and why. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Paused(Instant at, @Nullable String by, @Nullable String reason) {
    public static @Nullable Paused of(@Nullable Pause pause) {
      return pause == null ? null : new Paused(pause.at(), pause.by(), pause.reason());
    }

    public Pause pause() {
      return new Pause(at, by, reason);
    }
  }

  /** What may be said with a pause or its end. */
  public record PauseRequest(@Nullable String reason) {
    /** Nothing is said. */
    public static final PauseRequest NONE = new PauseRequest(null);

    public PauseRequest {
      if (reason != null) {
        dev.holdfast.model.value.Limits.reason(reason);
      }
    }
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
  public record Queues(List<Dispatched> queues) {
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
      QueueOperator.@Nullable PushedTo dispatch,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean created) {
    public static Dispatched of(QueueOperator.View view) {
      return new Dispatched(
          QueueResource.of(view.status(), view.pause()),
          view.dispatch(),
          view.created() ? Boolean.TRUE : null);
    }

    public QueueOperator.View view() {
      return new QueueOperator.View(
          queue.status(),
          queue.pause() == null ? null : queue.pause().pause(),
          dispatch,
          Boolean.TRUE.equals(created));
    }
  }

  /** The URL, and the secret that is sent there. */
  public record DispatchRequest(String url, String secret, @Nullable Integer maxInFlight) {
    public DispatchRequest {
      Wire.present("url", url);
      Wire.present("secret", secret);
    }

    @Override
    public String toString() {
      return "dispatch to " + url;
    }
  }
}
