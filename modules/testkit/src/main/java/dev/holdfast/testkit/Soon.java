package dev.holdfast.testkit;

import java.time.Duration;

/** How long a test waits for what must come. */
public final class Soon {
  /**
   * As a rule it comes at once. A busy machine may stand still for half a minute, though, and that
   * is no fault of the program; a test that has waited this long has failed.
   */
  public static final Duration SOON = Duration.ofMinutes(2);

  /**
   * How long a machine may stand still in the middle of something. What must be prompt is given
   * this much room; what must not happen while all is well, as a lease that runs out, is further
   * away than the longest that was seen, which is seven seconds.
   */
  public static final Duration STANDSTILL = Duration.ofSeconds(20);

  /** A lease that no standing still endangers, for tests in which somebody may lose one. */
  public static final Duration LEASE = Duration.ofSeconds(10);

  private Soon() {}
}
