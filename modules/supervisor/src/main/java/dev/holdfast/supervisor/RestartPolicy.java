package dev.holdfast.supervisor;

import java.time.Duration;

/**
 * How often a worker that crashes is started again, and how soon.
 *
 * @param rapidLimit so many restarts within the window are too many: it cannot even start
 * @param lifetimeLimit so many in all are too many, however slowly they come
 * @param forgivenAfter healthy for so long, it begins with no restarts again
 */
public record RestartPolicy(
    int rapidLimit,
    Duration rapidWindow,
    int lifetimeLimit,
    Duration forgivenAfter,
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
