package dev.holdfast.queue.history;

import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.JobHistory.Depth;
import dev.holdfast.model.ops.JobHistory.OfKind;
import dev.holdfast.model.ops.JobHistory.Point;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads what was summed up, and the last minutes, which are not yet, from the jobs themselves.
 * Where history was not summed up for long, only the end of that time is read; the rest is unknown.
 */
public final class ReadHistory {
  private static final Duration LONGEST_FROM_JOBS = Duration.ofMinutes(15);
  private static final int MOST_KINDS = 200;
  static final String VERB = "history";

  private static final Sql CURSOR =
      Sql.of(
          """
          SELECT c.known_since, c.summed_until, clock_timestamp() AS now
            FROM (SELECT) AS one LEFT JOIN holdfast.history_cursor c ON true
          """);

  private static final Sql SUMMED_UP =
      Sql.of(
          """
          SELECT ${columns}
            FROM holdfast.history h
           WHERE step_seconds = :seconds AND at >= :from AND at < :until AND ${tenant}
             AND (:queue = '' OR queue = :queue) AND (:kind = '' OR kind = :kind)
          """,
          "columns",
          TallySql.COLUMNS,
          "tenant",
          TenantSql.isOf("h"));

  // All queues are read too: where they have a sample and this one has none, it was empty.
  private static final Sql DEPTH =
      Sql.of(
          """
          SELECT date_bin(:step * interval '1 millisecond', at, 'epoch') AS at,
                 coalesce(max(due) FILTER (WHERE queue = :queue), 0) AS due,
                 coalesce(max(running) FILTER (WHERE queue = :queue), 0) AS running,
                 coalesce(max(oldest_ms) FILTER (WHERE queue = :queue), 0) AS oldest_ms
            FROM holdfast.queue_depth
           WHERE step_seconds = :seconds AND at >= :from AND at < :until AND queue IN (:queue, '')
           GROUP BY 1
          """);

  /**
   * @param from what is kept in steps of {@code kept} is read from here
   * @param knownSince null where nothing was ever summed up
   */
  private record Span(
      Resolution kept,
      Duration step,
      Instant from,
      @Nullable Instant knownSince,
      Instant summedUntil,
      Instant now) {
    /** From here on jobs are read. */
    Instant jobsFrom() {
      Instant earliest = Resolution.MINUTE.floor(now.minus(LONGEST_FROM_JOBS));
      return later(later(summedUntil, earliest), from);
    }

    /** Whether anything is known of the time between two moments. */
    boolean isKnown(Instant begin, Instant end) {
      boolean summedUp =
          knownSince != null && end.isAfter(knownSince) && begin.isBefore(summedUntil);
      return summedUp || end.isAfter(jobsFrom());
    }
  }

  private record Kind(String queue, String kind) {}

  private final Connection connection;
  private final JobHistory.Query query;
  private final Span span;
  private final List<RecentTallies.Row> recent;
  private final Map<Instant, TallySum> points = new HashMap<>();
  private final Map<Instant, Depth> depths = new HashMap<>();
  private final Map<Kind, TallySum> kinds = new HashMap<>();
  private final TallySum total = new TallySum();

  private ReadHistory(
      Connection connection, JobHistory.Query query, Span span, List<RecentTallies.Row> recent) {
    this.connection = connection;
    this.query = query;
    this.span = span;
    this.recent = recent;
  }

  /** What is summed up meanwhile changes nothing: all is read as far as the cursor was before. */
  public static JobHistory of(Database database, JobHistory.Query query, RecentTallies recent) {
    Span span =
        database.run(
            VERB, connection -> CURSOR.on(connection).only(row -> span(row, query.span())));
    List<RecentTallies.Row> rows = recent.since(database, span.jobsFrom());
    return database.run(VERB, connection -> new ReadHistory(connection, query, span, rows).read());
  }

  private static Span span(ResultSet row, Duration span) throws SQLException {
    Instant now = Rows.instant(row, "now");
    Instant knownSince = Rows.instantOrNull(row, "known_since");
    Instant summedUntil = Rows.instantOrNull(row, "summed_until");
    Resolution kept;
    Duration step;
    if (span.compareTo(Duration.ofHours(1)) <= 0) {
      kept = Resolution.MINUTE;
      step = Duration.ofMinutes(1);
    } else if (span.compareTo(Duration.ofHours(7)) <= 0) {
      kept = Resolution.MINUTE;
      step = Duration.ofMinutes(5);
    } else if (span.compareTo(Duration.ofHours(25)) <= 0) {
      kept = Resolution.QUARTER;
      step = Duration.ofMinutes(15);
    } else {
      kept = Resolution.HOUR;
      step = Duration.ofHours(2);
    }
    Instant from = Resolution.floor(now.minus(span), step);
    return new Span(kept, step, from, knownSince, summedUntil == null ? from : summedUntil, now);
  }

  private JobHistory read() throws SQLException {
    Instant rolled = span.kept().floor(span.summedUntil());
    summedUp(span.kept(), span.from(), rolled);
    if (span.kept() != Resolution.MINUTE) {
      summedUp(Resolution.MINUTE, later(rolled, span.from()), span.summedUntil());
    }
    recent.stream()
        .filter(each -> !each.at().isBefore(span.jobsFrom()) && isAskedFor(each))
        .forEach(each -> add(each.at(), new Kind(each.queue(), each.kind()), each.sum()));
    if (query.kind() == null && query.tenant().isAny()) {
      depth(span.kept(), span.from(), rolled);
      depth(Resolution.MINUTE, later(rolled, span.from()), span.now().plus(LONGEST_FROM_JOBS));
    }
    return new JobHistory(
        span.knownSince() == null ? span.jobsFrom() : span.knownSince(),
        span.now(),
        span.step(),
        total.tally(),
        points(),
        kinds(),
        kinds.size() > MOST_KINDS);
  }

  private void summedUp(Resolution kept, Instant from, Instant until) throws SQLException {
    SUMMED_UP
        .on(connection)
        .set("seconds", kept.seconds())
        .set("from", from)
        .set("until", until)
        .set("queue", query.queue() == null ? "" : query.queue())
        .set("kind", query.kind() == null ? "" : query.kind())
        .tenant(query.tenant())
        .list(
            row ->
                add(
                    Rows.instant(row, "at"),
                    new Kind(row.getString("queue"), row.getString("kind")),
                    TallySum.of(row)));
  }

  private boolean isAskedFor(RecentTallies.Row row) {
    return (query.queue() == null || query.queue().equals(row.queue()))
        && (query.kind() == null || query.kind().equals(row.kind()))
        && query.tenant().includes(row.tenant());
  }

  private boolean add(Instant minute, Kind kind, TallySum sum) {
    Instant at = Resolution.floor(minute, span.step());
    points.computeIfAbsent(at, absent -> new TallySum()).add(sum);
    kinds.computeIfAbsent(kind, absent -> new TallySum()).add(sum);
    total.add(sum);
    return true;
  }

  private void depth(Resolution kept, Instant from, Instant until) throws SQLException {
    DEPTH
        .on(connection)
        .set("step", span.step())
        .set("seconds", kept.seconds())
        .set("from", from)
        .set("until", until)
        .set("queue", query.queue() == null ? SampleDepth.ALL : query.queue())
        .list(
            row ->
                depths.merge(
                    Rows.instant(row, "at"),
                    new Depth(
                        row.getLong("due"),
                        row.getLong("running"),
                        Duration.ofMillis(row.getLong("oldest_ms"))),
                    Depth::max));
  }

  private List<Point> points() {
    List<Point> all = new ArrayList<>();
    for (Instant at = span.from(); at.isBefore(span.now()); at = at.plus(span.step())) {
      TallySum none = span.isKnown(at, at.plus(span.step())) ? new TallySum() : null;
      TallySum sum = points.getOrDefault(at, none);
      all.add(new Point(at, sum == null ? null : sum.tally(), depths.get(at)));
    }
    return all;
  }

  private List<OfKind> kinds() {
    Comparator<Map.Entry<Kind, TallySum>> most =
        Comparator.comparingLong(each -> -each.getValue().jobs());
    return kinds.entrySet().stream()
        .sorted(
            most.thenComparing(each -> each.getKey().queue())
                .thenComparing(each -> each.getKey().kind()))
        .limit(MOST_KINDS)
        .map(
            each ->
                new OfKind(each.getKey().queue(), each.getKey().kind(), each.getValue().tally()))
        .toList();
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }
}
