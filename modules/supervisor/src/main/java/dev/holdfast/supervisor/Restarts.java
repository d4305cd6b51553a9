package dev.holdfast.supervisor;

import dev.holdfast.model.value.Plural;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Counts the restarts of one worker and decides what follows a crash. Only a healthy time resets
 * the count: neither a pause nor a start by an operator does.
 */
final class Restarts {
  private final RestartPolicy policy;
  private final Deque<Long> times = new ArrayDeque<>();
  private int count;

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

  int count() {
    return count;
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
    if (count >= policy.lifetimeLimit()) {
      return new Next.GiveUp(Plural.of(count, "restart") + " in total");
    }
    return new Next.In(policy.delay(count));
  }

  void restarted(long now) {
    times.addLast(now);
    count++;
  }

  /** Resets the count after a healthy time; whether there was anything to reset. */
  boolean resetIfHealthy(Duration healthyFor) {
    if (count == 0 || healthyFor.compareTo(policy.resetAfter()) < 0) {
      return false;
    }
    times.clear();
    count = 0;
    return true;
  }

  private static String shown(Duration duration) {
    return duration.toSeconds() % 60 == 0
        ? Plural.of(duration.toMinutes(), "minute")
        : duration.toMillis() / 1000.0 + " seconds";
  }
}
