package dev.holdfast.model.ops;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** How a worker process is doing. */
public enum HealthStatus {
  /** It was started and is not ready yet. */
  STARTING,
  /** It works, or would if there were jobs. */
  HEALTHY,
  /** It takes nothing more and ends; without a process, it was stopped and stays so. */
  STOPPING,
  /** Its process ended, or was not heard of for too long; another one is to follow. */
  CRASHED,
  /** It crashed too often. Nobody starts it again before an operator says so. */
  FAILED;

  private static final Set<HealthStatus> ALIVE = EnumSet.of(STARTING, HEALTHY, STOPPING);

  /** The name on the wire, in the table and on the screen. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static HealthStatus of(String text) {
    return valueOf(text.toUpperCase(Locale.ROOT));
  }

  /** Whether there is a process that can say so itself. */
  public boolean isAlive() {
    return ALIVE.contains(this);
  }

  /** Where it can go from here, apart from staying. */
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
