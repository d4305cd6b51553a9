package dev.holdfast.queue.claim;

import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where the index scan of a claim begins, when a full index scan is slow or about to be.
 *
 * <p>Claimed jobs leave dead entries at the front of the claim index, and each claim scans them
 * until a vacuum has removed them: more of them every time while a backlog drains, and without end
 * while some transaction holds an old snapshot. So after a large claim, one that left a backlog and
 * was not quick, or a few slow ones, the next scan begins where the last one did, priority by
 * priority. A job that commits late with an earlier time, or is requeued with its old one, may be
 * before that; a full index scan finds it, which is made again after a while, and at once when
 * nothing else is found. While claims are small and quick every scan is a full one.
 */
final class ClaimCursor {
  static final double NONE = Double.NEGATIVE_INFINITY;
  private static final int LANES = 10;

  /** A claim that takes longer, plus the time per row, is slow. */
  private static final Duration SLOW = Duration.ofMillis(15);

  /** One slow claim may be due to a busy machine; so many in a row are not. */
  static final int SLOW_CLAIMS = 3;

  private static final Duration SLOW_PER_ROW = Duration.ofNanos(60_000);

  /** A claim that finds so many jobs at once reads from a backlog. */
  static final int LARGE = 100;

  /**
   * So does one that finds all it asked for, if it asked for so many; and one that then takes
   * longer than this, plus the time per row, has walked over what others have claimed.
   */
  static final int SEVERAL = 8;

  private static final Duration QUICK = Duration.ofMillis(2);
  private static final Duration QUICK_PER_ROW = Duration.ofNanos(30_000);

  /** Full index scans may take a twentieth of the time, and half of it in an empty queue. */
  private static final int RARELY = 20;

  private static final int SOMETIMES = 2;

  /** Times are read as seconds with a fraction; closer times count as equal. */
  private static final double PRECISION = 1e-5;

  private final LongSupplier nanos;
  private final double[] cursors = new double[LANES];
  private boolean raised;
  private int slowInARow;
  private int found;
  private long fullAt;
  private long fullCost;

  ClaimCursor(LongSupplier nanos) {
    this.nanos = nanos;
    Arrays.fill(cursors, NONE);
  }

  /** The time by which claims are measured. */
  long now() {
    return nanos.getAsLong();
  }

  /** Where the next claim begins, in seconds since the epoch, by priority. */
  synchronized double[] next() {
    if (raised && sinceFull() >= RARELY * fullCost) {
      lower();
    }
    return cursors.clone();
  }

  static Array array(Connection connection, double[] from) throws SQLException {
    return connection.createArrayOf("float8", Arrays.stream(from).boxed().toArray());
  }

  /**
   * What a claim that began at these cursors has found, and how long it took.
   *
   * @param most how many it asked for
   */
  synchronized void claimed(double[] from, List<ClaimedRow> taken, int most, long took) {
    found = taken.size();
    boolean full = isFull(from);
    if (full) {
      fullAt = nanos.getAsLong();
      fullCost = took;
    }
    boolean slow = took > SLOW.toNanos() + SLOW_PER_ROW.toNanos() * taken.size();
    slowInARow = !full ? slowInARow : slow ? slowInARow + 1 : 0;
    if (!taken.isEmpty()
        && (raised
            || slowInARow >= SLOW_CLAIMS
            || taken.size() >= LARGE
            || leavesBacklog(taken.size(), most, took))) {
      raise(taken);
    }
  }

  private static boolean leavesBacklog(int found, int most, long took) {
    return found >= SEVERAL
        && found == most
        && took > QUICK.toNanos() + QUICK_PER_ROW.toNanos() * found;
  }

  /** How many jobs the last claim found. */
  synchronized int found() {
    return found;
  }

  private void raise(List<ClaimedRow> taken) {
    double[] first = new double[LANES];
    Arrays.fill(first, Double.POSITIVE_INFINITY);
    for (ClaimedRow job : taken) {
      first[job.priority()] = Math.min(first[job.priority()], job.due() - PRECISION);
    }
    for (int lane = 0; lane < LANES; lane++) {
      if (first[lane] < Double.POSITIVE_INFINITY) {
        cursors[lane] = Math.max(cursors[lane], first[lane]);
      }
    }
    raised = true;
  }

  /** Whether a claim that found nothing should be repeated with a full index scan. */
  synchronized boolean shouldScanFully(double[] from) {
    if (isFull(from) || sinceFull() < SOMETIMES * fullCost) {
      return false;
    }
    lower();
    return true;
  }

  private void lower() {
    Arrays.fill(cursors, NONE);
    raised = false;
  }

  private long sinceFull() {
    return nanos.getAsLong() - fullAt;
  }

  /** How long until a full index scan is allowed; null when the claim made one. */
  synchronized @Nullable Duration nextFullScan(double[] from) {
    return isFull(from) ? null : Duration.ofNanos(Math.max(0, SOMETIMES * fullCost - sinceFull()));
  }

  private static boolean isFull(double[] from) {
    return Arrays.stream(from).allMatch(cursor -> cursor == NONE);
  }
}
