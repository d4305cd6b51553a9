package dev.holdfast.queue.history;

import java.time.Duration;
import java.time.Instant;

/** The steps in which history is kept, and for how long. Longer ones are summed up from minutes. */
enum Resolution {
  MINUTE(Duration.ofMinutes(1), Duration.ofHours(8)),
  QUARTER(Duration.ofMinutes(15), Duration.ofHours(26)),
  HOUR(Duration.ofHours(1), Duration.ofDays(8));

  private final Duration step;
  private final Duration kept;

  Resolution(Duration step, Duration kept) {
    this.step = step;
    this.kept = kept;
  }

  int seconds() {
    return (int) step.toSeconds();
  }

  Duration kept() {
    return kept;
  }

  /** The beginning of the step that contains a moment. */
  Instant floor(Instant moment) {
    return floor(moment, step);
  }

  /**
   * The beginning of a step of any length; all begin at the epoch, as those of {@code date_bin} do.
   */
  static Instant floor(Instant moment, Duration step) {
    return Instant.ofEpochMilli(
        Math.floorDiv(moment.toEpochMilli(), step.toMillis()) * step.toMillis());
  }
}
