package dev.holdfast.queue.history;

import dev.holdfast.model.ops.JobHistory.Percentiles;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Array;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How many jobs took how long, in buckets of which each ends 2^(1/4) times as late as the one
 * before. Bucket 0 is below a millisecond; the last one begins after a month. A percentile is taken
 * for the middle of its bucket, so that it is wrong by 9 % at most.
 */
final class Histogram {
  private static final int BUCKETS = 128;
  private static final int PER_OCTAVE = 4;

  private final long[] counts = new long[BUCKETS];
  private long jobs;

  /**
   * The number of the bucket of an interval.
   *
   * @param interval SQL
   */
  static String bucketSql(String interval) {
    return Sql.fragment(
        """
        (CASE WHEN ${interval} < interval '1 millisecond' THEN 0
              ELSE least(${last}, 1 + floor(
                     ln(date_part('epoch', ${interval}) * 1000) * ${perOctave} / ln(2::float8)))
         END)::smallint
        """,
        "interval",
        interval,
        "last",
        Integer.toString(BUCKETS - 1),
        "perOctave",
        Integer.toString(PER_OCTAVE));
  }

  /** Adds what two arrays of a row say: the numbers of buckets, and how many jobs are in each. */
  void add(Array buckets, Array counted) throws SQLException {
    Number[] numbers = (Number[]) buckets.getArray();
    Number[] more = (Number[]) counted.getArray();
    for (int i = 0; i < numbers.length; i++) {
      counts[Math.clamp(numbers[i].intValue(), 0, BUCKETS - 1)] += more[i].longValue();
      jobs += more[i].longValue();
    }
  }

  void add(Histogram other) {
    for (int i = 0; i < BUCKETS; i++) {
      counts[i] += other.counts[i];
    }
    jobs += other.jobs;
  }

  @Nullable Percentiles percentiles() {
    return jobs == 0 ? null : new Percentiles(percentile(0.5), percentile(0.95), percentile(0.99));
  }

  private Duration percentile(double part) {
    long rank = Math.max(1, (long) Math.ceil(part * jobs));
    int bucket = 0;
    for (long passed = counts[0]; passed < rank; passed += counts[bucket]) {
      bucket++;
    }
    return middle(bucket);
  }

  private static Duration middle(int bucket) {
    double millis = bucket == 0 ? 0 : Math.pow(2, (bucket - 0.5) / PER_OCTAVE);
    return Duration.ofMillis(Math.round(millis));
  }
}
