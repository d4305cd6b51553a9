package dev.holdfast;

import dev.holdfast.queue.Maintenance;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Sums up ended jobs for the history, a few times a minute. Reapers call it at the end of every
 * round. After a long pause there may be much to sum up: a round then takes about a second at most,
 * so that reaping is not held up for longer, and the next one continues.
 */
final class HistoryUpkeep {
  static final Duration INTERVAL = Duration.ofSeconds(20);
  private static final Duration ROUND = Duration.ofSeconds(1);

  private final Maintenance maintenance;
  private final LongSupplier nanos;
  private long dueAt;

  HistoryUpkeep(Maintenance maintenance, LongSupplier nanos) {
    this.maintenance = maintenance;
    this.nanos = nanos;
    this.dueAt = nanos.getAsLong();
  }

  void runIfDue() {
    long now = nanos.getAsLong();
    if (now - dueAt < 0) {
      return;
    }
    // Before the work: if it fails, it is tried again with the next interval and not with each
    // sweep.
    dueAt = now + INTERVAL.toNanos();
    boolean more;
    do {
      more = maintenance.sumUpHistory();
    } while (more && nanos.getAsLong() - now < ROUND.toNanos());
    if (more) {
      dueAt = now;
    }
  }
}
