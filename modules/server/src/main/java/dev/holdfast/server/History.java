package dev.holdfast.server;

import dev.holdfast.model.Moment;
import dev.holdfast.queue.Queue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How it went in the last hours, of one tenant or of all: each job that ended is read from the
 * database once or twice, and not for each page that shows a plot. What lies farther back is read
 * bit by bit, so that nobody waits long for it.
 */
final class History {
  static final Duration SPAN = Duration.ofSeconds(10);
  static final Duration FARTHEST = Duration.ofHours(6);

  private static final Duration FRESH = Duration.ofSeconds(2);
  private static final Duration CHUNK = Duration.ofMinutes(15);
  private static final Duration PATIENCE = Duration.ofMillis(150);

  /** A commit may come this much later than the moment it was for. */
  private static final Duration OVERLAP = SPAN;

  private final Queue queue;
  private final @Nullable String tenant;
  private final TreeMap<Instant, Moment> moments = new TreeMap<>();
  private Instant from = Instant.EPOCH;
  private Instant until = Instant.EPOCH;

  History(Queue queue, @Nullable String tenant) {
    this.queue = queue;
    this.tenant = tenant;
  }

  /**
   * What is known of a span before now, in that many points at most.
   *
   * @param since from when on it is known, which may be later than was asked for
   */
  record Shown(Instant since, Duration step, List<Moment> points) {}

  synchronized Shown last(Duration span, int points, Instant now) {
    read(now, span);
    long steps = Math.max(1, -Math.floorDiv(-span.toMillis(), SPAN.toMillis() * points));
    Duration step = SPAN.multipliedBy(steps);
    Instant first = floor(now.minus(span), step);
    List<Moment> shown = new ArrayList<>();
    for (Instant at = first; !at.isAfter(now); at = at.plus(step)) {
      Moment sum = Moment.none(at);
      for (Moment each : moments.subMap(at, at.plus(step)).values()) {
        sum = sum.plus(each);
      }
      shown.add(sum);
    }
    return new Shown(from, step, shown);
  }

  private void read(Instant now, Duration span) {
    if (until.plus(CHUNK).isBefore(now)) {
      moments.clear();
      from = floor(now.minus(CHUNK), SPAN);
      until = from;
    }
    if (until.plus(FRESH).isBefore(now)) {
      Instant again = floor(until.minus(OVERLAP), SPAN);
      Instant start = again.isBefore(from) ? from : again;
      moments.tailMap(start, true).clear();
      // A little ahead, for the clock of this machine is not the database's.
      put(start, now.plus(CHUNK));
      until = now;
    }
    long began = System.nanoTime();
    while (from.isAfter(now.minus(span)) && System.nanoTime() - began < PATIENCE.toNanos()) {
      Instant earlier = from.minus(CHUNK);
      put(earlier, from);
      from = earlier;
    }
    Instant tooOld = now.minus(FARTHEST).minus(CHUNK);
    moments.headMap(tooOld).clear();
    from = from.isBefore(tooOld) ? floor(tooOld, SPAN).plus(SPAN) : from;
  }

  private void put(Instant start, Instant end) {
    queue.past(SPAN, start, end, tenant).forEach(each -> moments.put(each.at(), each));
  }

  private static Instant floor(Instant moment, Duration step) {
    return Instant.ofEpochMilli(
        Math.floorDiv(moment.toEpochMilli(), step.toMillis()) * step.toMillis());
  }
}
