package dev.holdfast.model.ops;

import java.time.Duration;
import java.time.Instant;

/**
 * A supervisor and its last report.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param silentFor time since that report, by the database's clock
 */
public record SupervisorHealth(String name, String host, Instant lastSeen, Duration silentFor) {
  /** It says that it is there every second; one that has not for this long is not there. */
  public boolean isSilent() {
    return silentFor.compareTo(WorkerHealth.TIMEOUT) > 0;
  }
}
