package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.ops.QueueStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A queue that has settings or unfinished jobs. */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record QueueResource(
    String name,
    long due,
    long delayed,
    long retrying,
    long waiting,
    long running,
    @Nullable Integer maxRunning,
    @Nullable Integer rateLimit,
    @Nullable Long rateSpanMs,
    @Nullable Instant pausedAt,
    @Nullable Long oldestMs) {
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
        queue.rateLimit(),
        millis(queue.rateSpan()),
        queue.pausedAt(),
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
        rateSpanMs == null ? null : Duration.ofMillis(rateSpanMs),
        pausedAt,
        oldestMs == null ? null : Duration.ofMillis(oldestMs),
        null,
        false,
        null);
  }

  private static @Nullable Long millis(@Nullable Duration duration) {
    return duration == null ? null : Long.valueOf(duration.toMillis());
  }

  /** All queues. */
  public record Queues(List<QueueResource> queues) {
    public Queues {
      queues = List.copyOf(Wire.present("queues", queues));
    }
  }

  /** A queue with where its tasks are pushed to; null where they are not. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Dispatched(@JsonUnwrapped QueueResource queue, @Nullable Dispatch dispatch) {}

  /**
   * Where tasks are pushed to.
   *
   * @param url without user, query and fragment, which may hold secrets
   */
  public record Dispatch(String url, int maxInFlight) {}
}
