package dev.holdfast.model.ops;

import dev.holdfast.model.value.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that were enqueued and ended over a span of time.
 *
 * @param knownSince what was before is not known
 * @param until when it was read, by the database's clock
 * @param step how long each point is; the last one ends at {@code until}
 * @param total of the known part of the whole span
 * @param points from the oldest to the newest
 * @param kinds the same total by queue and kind, those with most jobs first
 * @param moreKinds whether there are more than that
 */
public record JobHistory(
    Instant knownSince,
    Instant until,
    Duration step,
    Tally total,
    List<Point> points,
    List<OfKind> kinds,
    boolean moreKinds) {
  /** The longest span that can be asked for. */
  public static final Duration LONGEST = Duration.ofDays(7);

  public JobHistory {
    points = List.copyOf(points);
    kinds = List.copyOf(kinds);
  }

  /**
   * What to read; null is all.
   *
   * @param span how far back
   */
  public record Query(Duration span, @Nullable String queue, @Nullable String kind, Tenant tenant) {
    public Query {
      if (span.compareTo(Duration.ofMinutes(1)) < 0 || span.compareTo(LONGEST) > 0) {
        throw new IllegalArgumentException(
            "a history of %s: it must be between a minute and %d days"
                .formatted(span, LONGEST.toDays()));
      }
    }
  }

  /**
   * @param enqueued jobs that were created
   * @param waitTime how long the succeeded jobs had been due before their last attempt; null when
   *     there is none
   * @param runTime how long that attempt took
   */
  public record Tally(
      long enqueued,
      long succeeded,
      long failed,
      long cancelled,
      @Nullable Percentiles waitTime,
      @Nullable Percentiles runTime) {}

  /** Within a tenth of the exact values. */
  public record Percentiles(Duration p50, Duration p95, Duration p99) {}

  /**
   * @param at when it begins
   * @param tally null when it is not known
   * @param depth null when it is not known, and of a kind or a tenant
   */
  public record Point(Instant at, @Nullable Tally tally, @Nullable Depth depth) {}

  /**
   * The most jobs that were due and that ran at the same time, as sampled once a minute.
   *
   * @param oldest the longest time that a due job had waited, whether it has started since or not
   */
  public record Depth(long due, long running, Duration oldest) {
    public Depth max(Depth other) {
      return new Depth(
          Math.max(due, other.due),
          Math.max(running, other.running),
          oldest.compareTo(other.oldest) > 0 ? oldest : other.oldest);
    }
  }

  /** Jobs of one kind in one queue. */
  public record OfKind(String queue, String kind, Tally tally) {}
}
