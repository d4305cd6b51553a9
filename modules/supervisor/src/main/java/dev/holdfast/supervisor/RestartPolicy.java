package dev.holdfast.supervisor;

import java.time.Duration;

/**
 * How often a worker that crashes is started again, and how soon.
 *
 * @param rapidLimit restarts within the window after which it has failed: it cannot even start
 * @param lifetimeLimit restarts in total after which it has failed, however slowly they come and
 *     however healthy it was between them
 * @param resetAfter how long it must be healthy until the rapid restarts and the backoff are
 *     counted from zero
 */
public record RestartPolicy(
    int rapidLimit,
    Duration rapidWindow,
    int lifetimeLimit,
    Duration resetAfter,
    Duration firstDelay,
    Duration longestDelay) {
  public static final RestartPolicy DEFAULT =
      new RestartPolicy(
          5,
          Duration.ofMinutes(5),
          20,
          Duration.ofMinutes(5),
          Duration.ofSeconds(1),
          Duration.ofSeconds(60));

  /** {@code min(2^restarts, 60)} seconds. */
  public Duration delay(int restarts) {
    Duration delay = firstDelay;
    for (int i = 0; i < restarts && delay.compareTo(longestDelay) < 0; i++) {
      delay = delay.multipliedBy(2);
    }
    return delay.compareTo(longestDelay) > 0 ? longestDelay : delay;
  }
}
