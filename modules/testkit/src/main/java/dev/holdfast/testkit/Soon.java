package dev.holdfast.testkit;

import java.time.Duration;

/** How long a test waits for what must come. */
public final class Soon {
  /**
   * As a rule it comes at once. A busy machine may stand still for half a minute, though, and that
   * is no fault of the program; a test that has waited this long has failed.
   */
  public static final Duration SOON = Duration.ofMinutes(2);

  private Soon() {}
}
