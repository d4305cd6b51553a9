package dev.holdfast.server.live;

import dev.holdfast.model.ops.Throughput;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of each queue that ended in the last five minutes, second by second. Each poll reads
 * only the last few seconds again.
 */
final class ThroughputWindow {
  static final Duration WINDOW = Duration.ofMinutes(5);

  /** The time over which the rate is computed. */
  private static final Duration LATELY = Duration.ofMinutes(1);

  /** A row may be committed this much later than its timestamp. */
  private static final Duration OVERLAP = Duration.ofSeconds(5);

  private static final int MOST_QUEUES = 10_000;

  /** Sums over the window. */
  record Sums(long succeeded, long failed, long cancelled, Duration runTime, double perSecond) {
    static final Sums NONE = new Sums(0, 0, 0, Duration.ZERO, 0);

    Sums plus(Sums other) {
      return new Sums(
          succeeded + other.succeeded,
          failed + other.failed,
          cancelled + other.cancelled,
          runTime.plus(other.runTime),
          perSecond + other.perSecond);
    }

    @Nullable Long averageRunMs() {
      return succeeded == 0 ? null : (Long) (runTime.toMillis() / succeeded);
    }
  }

  private final Map<String, TreeMap<Instant, Throughput>> queues = new HashMap<>();
  private @Nullable Instant readUntil;

  /** The beginning of the time to read. */
  Instant from(Instant now) {
    Instant earliest = now.minus(WINDOW);
    Instant overlapping = readUntil == null ? earliest : readUntil.minus(OVERLAP);
    return (overlapping.isAfter(earliest) ? overlapping : earliest).truncatedTo(ChronoUnit.SECONDS);
  }

  /** Replaces what was read of the time since {@code from}. */
  void read(List<Throughput> rows, Instant from, Instant now) {
    queues.values().forEach(seconds -> seconds.tailMap(from, true).clear());
    for (Throughput row : rows) {
      if (queues.containsKey(row.queue()) || queues.size() < MOST_QUEUES) {
        queues.computeIfAbsent(row.queue(), queue -> new TreeMap<>()).put(row.second(), row);
      }
    }
    queues.values().forEach(seconds -> seconds.headMap(now.minus(WINDOW)).clear());
    queues.values().removeIf(Map::isEmpty);
    readUntil = now;
  }

  Set<String> queues() {
    return queues.keySet();
  }

  Sums of(String queue, Instant now) {
    TreeMap<Instant, Throughput> seconds = queues.get(queue);
    if (seconds == null) {
      return Sums.NONE;
    }
    Sums sums = Sums.NONE;
    for (Throughput second : seconds.values()) {
      boolean lately = !second.second().isBefore(now.minus(LATELY));
      double ended = lately ? second.succeeded() + second.failed() : 0;
      sums =
          sums.plus(
              new Sums(
                  second.succeeded(),
                  second.failed(),
                  second.cancelled(),
                  second.runTime(),
                  ended / LATELY.toSeconds()));
    }
    return sums;
  }
}
