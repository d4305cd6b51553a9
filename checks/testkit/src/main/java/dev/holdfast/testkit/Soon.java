package dev.holdfast.testkit;

import java.time.Duration;

/** How long a test waits for what must come. */
public final class Soon {
  /**
   * As a rule it comes at once. A busy machine may stand still for half a minute, though, and that
   * is no fault of the program; a test that has waited this long has failed.
   */
  public static final Duration SOON = Duration.ofMinutes(2);

  /** The room that a bound leaves for a machine that stands still in the middle of something. */
  public static final Duration STANDSTILL = Duration.ofSeconds(20);

  /**
   * For what must not run out while all is well: a lease, or how long a process may be silent. On a
   * crowded machine a connection to the database has been waited for for seven seconds.
   */
  public static final Duration AMPLE = Duration.ofSeconds(10);

  private Soon() {}
}
