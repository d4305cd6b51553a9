package dev.holdfast.model.ops;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * The status of a worker process.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public enum HealthStatus {
  /** It was started and is not ready yet. */
  STARTING,
  /** It claims and runs jobs. */
  HEALTHY,
  /** It claims no more jobs and ends; without a process, it is stopped. */
  STOPPING,
  /** Its process ended unexpectedly or reported nothing for too long; it will be restarted. */
  CRASHED,
  /** It crashed too often and is not restarted until an operator resumes it. */
  FAILED;

  private static final Set<HealthStatus> ALIVE = EnumSet.of(STARTING, HEALTHY, STOPPING);

  /** The name on the wire, in the table and on the screen. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static HealthStatus of(String text) {
    return valueOf(text.toUpperCase(Locale.ROOT));
  }

  /** Whether there is a process, which can report this status itself. */
  public boolean isAlive() {
    return ALIVE.contains(this);
  }

  /** The statuses that may follow. */
  public Set<HealthStatus> next() {
    return switch (this) {
      case STARTING -> EnumSet.of(HEALTHY, STOPPING, CRASHED);
      case HEALTHY -> EnumSet.of(STOPPING, CRASHED);
      case STOPPING -> EnumSet.of(STARTING, CRASHED);
      case CRASHED -> EnumSet.of(STARTING, STOPPING, FAILED);
      case FAILED -> EnumSet.of(STARTING, STOPPING);
    };
  }
}
