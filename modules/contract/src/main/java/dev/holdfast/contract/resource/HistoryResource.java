package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.ops.JobHistory;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs over time, for plots and tables. */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record HistoryResource(
    Instant knownSince,
    Instant until,
    long stepMs,
    Jobs total,
    List<Point> points,
    List<OfKind> kinds,
    boolean moreKinds) {
  public HistoryResource {
    Wire.present("knownSince", knownSince);
    Wire.present("until", until);
    Wire.present("total", total);
    points = List.copyOf(Wire.present("points", points));
    kinds = List.copyOf(Wire.present("kinds", kinds));
  }

  public static HistoryResource of(JobHistory history) {
    return new HistoryResource(
        history.knownSince(),
        history.until(),
        history.step().toMillis(),
        Jobs.of(history.total()),
        history.points().stream().map(Point::of).toList(),
        history.kinds().stream().map(OfKind::of).toList(),
        history.moreKinds());
  }

  public JobHistory history() {
    return new JobHistory(
        knownSince,
        until,
        Duration.ofMillis(stepMs),
        total.tally(),
        points.stream().map(Point::point).toList(),
        kinds.stream().map(OfKind::ofKind).toList(),
        moreKinds);
  }

  /** How many there were, and the times of those that succeeded. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Jobs(
      long enqueued,
      long succeeded,
      long failed,
      long cancelled,
      @Nullable Percentiles waitMs,
      @Nullable Percentiles runMs) {
    static Jobs of(JobHistory.Tally tally) {
      return new Jobs(
          tally.enqueued(),
          tally.succeeded(),
          tally.failed(),
          tally.cancelled(),
          tally.waitTime() == null ? null : Percentiles.of(tally.waitTime()),
          tally.runTime() == null ? null : Percentiles.of(tally.runTime()));
    }

    JobHistory.Tally tally() {
      return new JobHistory.Tally(
          enqueued,
          succeeded,
          failed,
          cancelled,
          waitMs == null ? null : waitMs.percentiles(),
          runMs == null ? null : runMs.percentiles());
    }
  }

  /** In milliseconds. */
  public record Percentiles(long p50, long p95, long p99) {
    static Percentiles of(JobHistory.Percentiles given) {
      return new Percentiles(
          given.p50().toMillis(), given.p95().toMillis(), given.p99().toMillis());
    }

    JobHistory.Percentiles percentiles() {
      return new JobHistory.Percentiles(
          Duration.ofMillis(p50), Duration.ofMillis(p95), Duration.ofMillis(p99));
    }
  }

  /**
   * @param jobs null when nothing is known of that time
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Point(Instant at, @Nullable Jobs jobs, @Nullable Depth depth) {
    public Point {
      Wire.present("at", at);
    }

    static Point of(JobHistory.Point point) {
      return new Point(
          point.at(),
          point.tally() == null ? null : Jobs.of(point.tally()),
          point.depth() == null ? null : Depth.of(point.depth()));
    }

    JobHistory.Point point() {
      return new JobHistory.Point(
          at,
          jobs == null ? null : jobs.tally(),
          depth == null
              ? null
              : new JobHistory.Depth(
                  depth.due(), depth.running(), Duration.ofMillis(depth.oldestDueMs())));
    }
  }

  /** Due and running jobs, and how long the first due job had waited. */
  public record Depth(long due, long running, long oldestDueMs) {
    static Depth of(JobHistory.Depth depth) {
      return new Depth(depth.due(), depth.running(), depth.oldest().toMillis());
    }
  }

  /** Jobs of one kind in one queue. */
  public record OfKind(String queue, String kind, Jobs jobs) {
    public OfKind {
      Wire.present("queue", queue);
      Wire.present("kind", kind);
      Wire.present("jobs", jobs);
    }

    static OfKind of(JobHistory.OfKind given) {
      return new OfKind(given.queue(), given.kind(), Jobs.of(given.tally()));
    }

    JobHistory.OfKind ofKind() {
      return new JobHistory.OfKind(queue, kind, jobs.tally());
    }
  }
}
