package dev.holdfast.supervisor;

import dev.holdfast.model.value.Plural;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Counts the restarts of one worker and decides what follows a crash. There are two counts: a
 * healthy time resets the one that the backoff follows, and never the total, which catches a worker
 * that crashes every half hour. A pause and a resume reset neither; a restart by an operator resets
 * both.
 */
final class Restarts {
  private final RestartPolicy policy;
  private final Deque<Long> times = new ArrayDeque<>();
  private int count;
  private int total;

  Restarts(RestartPolicy policy) {
    this.policy = policy;
  }

  /** What follows a crash. */
  sealed interface Next {
    /** It is restarted after a delay. */
    record In(Duration delay) implements Next {}

    /** It is not restarted. */
    record GiveUp(String why) implements Next {}
  }

  /** Since it was last healthy for long enough: what the backoff follows. */
  int count() {
    return count;
  }

  /** Since its supervisor or an operator started it. */
  int total() {
    return total;
  }

  /**
   * @param now in nanoseconds, of a monotonic clock
   */
  Next afterCrash(long now) {
    while (!times.isEmpty() && now - times.peekFirst() >= policy.rapidWindow().toNanos()) {
      times.removeFirst();
    }
    if (times.size() >= policy.rapidLimit()) {
      return new Next.GiveUp(
          Plural.of(times.size(), "restart") + " within " + shown(policy.rapidWindow()));
    }
    if (total >= policy.lifetimeLimit()) {
      return new Next.GiveUp(Plural.of(total, "restart") + " in total");
    }
    return new Next.In(policy.delay(count));
  }

  void restarted(long now) {
    times.addLast(now);
    count++;
    total++;
  }

  /** Resets the backoff after a healthy time; whether there was anything to reset. */
  boolean resetIfHealthy(Duration healthyFor) {
    if (count == 0 || healthyFor.compareTo(policy.resetAfter()) < 0) {
      return false;
    }
    times.clear();
    count = 0;
    return true;
  }

  /** An operator has restarted it. */
  void reset() {
    times.clear();
    count = 0;
    total = 0;
  }

  private static String shown(Duration duration) {
    return duration.toSeconds() % 60 == 0
        ? Plural.of(duration.toMinutes(), "minute")
        : duration.toMillis() / 1000.0 + " seconds";
  }
}
