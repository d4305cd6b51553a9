package dev.holdfast.server.api;

import dev.holdfast.model.value.Moment;
import dev.holdfast.queue.JobQueries;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Throughput of the last hours, of one tenant or of all. Each finished job is read from the
 * database once or twice, not once for each page that shows a chart. Older time is read in pieces,
 * so that no request waits long.
 */
final class History {
  static final Duration SPAN = Duration.ofSeconds(10);
  static final Duration FARTHEST = Duration.ofHours(6);

  private static final Duration FRESH = Duration.ofSeconds(2);

  /** The first piece of older time; pieces grow while reading them is fast. */
  private static final Duration LITTLE = Duration.ofMinutes(1);

  private static final Duration MUCH = Duration.ofMinutes(15);
  private static final Duration QUICK = Duration.ofMillis(25);

  /** How long one request may read older time. */
  private static final Duration PATIENCE = Duration.ofMillis(100);

  /** After this long without a request, starting again is cheaper than catching up. */
  private static final Duration FORGOTTEN = Duration.ofMinutes(2);

  /** A row may be committed this much later than its timestamp. */
  private static final Duration OVERLAP = SPAN;

  private final JobQueries queries;
  private final @Nullable String tenant;
  private final TreeMap<Instant, Moment> moments = new TreeMap<>();
  private Instant from = Instant.EPOCH;
  private Instant until = Instant.EPOCH;
  private Duration stride = LITTLE;

  History(JobQueries queries, @Nullable String tenant) {
    this.queries = queries;
    this.tenant = tenant;
  }

  /**
   * The points of a span that ends now, at most that many.
   *
   * @param since where the known time begins, which may be later than the span does
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
    if (until.plus(FORGOTTEN).isBefore(now)) {
      moments.clear();
      from = floor(now.minus(LITTLE), SPAN);
      until = from;
    }
    if (until.plus(FRESH).isBefore(now)) {
      Instant again = floor(until.minus(OVERLAP), SPAN);
      Instant start = again.isBefore(from) ? from : again;
      moments.tailMap(start, true).clear();
      // A little ahead, since the clock of this machine may differ from the database's.
      put(start, now.plus(LITTLE));
      until = now;
    }
    readBack(floor(now.minus(span), SPAN));
    Instant tooOld = floor(now.minus(FARTHEST).minus(MUCH), SPAN);
    moments.headMap(tooOld).clear();
    from = from.isBefore(tooOld) ? tooOld : from;
  }

  private void readBack(Instant wanted) {
    long began = System.nanoTime();
    while (from.isAfter(wanted) && System.nanoTime() - began < PATIENCE.toNanos()) {
      long start = System.nanoTime();
      Instant earlier = from.minus(stride);
      put(earlier, from);
      from = earlier;
      boolean quick = System.nanoTime() - start < QUICK.toNanos();
      long next = quick ? stride.toMillis() * 2 : stride.toMillis() / 2;
      long spans = Math.clamp(next, SPAN.toMillis(), MUCH.toMillis()) / SPAN.toMillis();
      stride = SPAN.multipliedBy(spans);
    }
  }

  private void put(Instant start, Instant end) {
    queries.past(SPAN, start, end, tenant).forEach(each -> moments.put(each.at(), each));
  }

  private static Instant floor(Instant moment, Duration step) {
    return Instant.ofEpochMilli(
        Math.floorDiv(moment.toEpochMilli(), step.toMillis()) * step.toMillis());
  }
}
