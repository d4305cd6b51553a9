package dev.holdfast.supervisor;

import dev.holdfast.model.value.Plural;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The restarts of one worker, and what they allow. Nothing but health wears them off: neither a
 * pause nor an operator who starts it by hand.
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
    /** It is started again after so long. */
    record In(Duration delay) implements Next {}

    /** It is not started again. */
    record GiveUp(String why) implements Next {}
  }

  int count() {
    return count;
  }

  /**
   * @param now in nanoseconds, of a clock that only goes on
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
      return new Next.GiveUp(Plural.of(count, "restart") + " in all");
    }
    return new Next.In(policy.delay(count));
  }

  void restarted(long now) {
    times.addLast(now);
    count++;
  }

  /** Whether there was something to forgive. */
  boolean forgiven(Duration healthyFor) {
    if (count == 0 || healthyFor.compareTo(policy.forgivenAfter()) < 0) {
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
