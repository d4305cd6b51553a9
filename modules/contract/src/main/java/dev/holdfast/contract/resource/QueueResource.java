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
    @Nullable RateLimit rateLimit,
    @Nullable Instant pausedAt,
    @Nullable Instant workersPausedAt,
    @Nullable Pause pause,
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
        queue.rateLimit(),
        queue.pausedAt(),
        queue.workersPausedAt(),
        pause,
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
        rateLimit,
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

  /** The limits of a queue as they are set: one that is absent is lifted. */
  public record Limits(@Nullable Integer maxRunning, @Nullable RateLimit rateLimit) {}

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
          queue.status(), queue.pause(), dispatch, Boolean.TRUE.equals(created));
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
