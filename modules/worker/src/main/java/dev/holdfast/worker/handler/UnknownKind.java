package dev.holdfast.worker.handler;

import java.time.Duration;

/**
 * How long a job is left alone by a worker that does not know its kind, so that others may.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class UnknownKind {
  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private UnknownKind() {}

  /** Longer with every attempt: each is a row, and a new worker takes its time to come. */
  public static Duration delay(int attempt) {
    Duration delay = FIRST;
    for (int i = 1; i < attempt && delay.compareTo(LONGEST) < 0; i++) {
      delay = delay.multipliedBy(2);
    }
    return delay.compareTo(LONGEST) > 0 ? LONGEST : delay;
  }
}
