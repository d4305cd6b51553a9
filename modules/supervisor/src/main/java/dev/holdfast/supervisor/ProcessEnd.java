package dev.holdfast.supervisor;

import dev.holdfast.model.ops.HealthStatus;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a process ended and what follows. It is kept until it is written to the database.
 *
 * @param pid null when there was no process
 * @param next the status that its row gets
 * @param restartIn null when it is not restarted automatically
 */
record ProcessEnd(
    @Nullable Long pid,
    @Nullable Integer exitCode,
    HealthStatus next,
    String reason,
    @Nullable Duration restartIn) {

  /** An end that was requested. */
  static ProcessEnd stopped(@Nullable Long pid, @Nullable Integer exitCode, String reason) {
    return new ProcessEnd(pid, exitCode, HealthStatus.STOPPING, reason, null);
  }

  static ProcessEnd crashed(
      @Nullable Long pid, @Nullable Integer exitCode, String reason, Restarts.Next next) {
    return switch (next) {
      case Restarts.Next.In(Duration delay) ->
          new ProcessEnd(pid, exitCode, HealthStatus.CRASHED, reason, delay);
      case Restarts.Next.GiveUp(String limit) ->
          new ProcessEnd(pid, exitCode, HealthStatus.FAILED, reason + "; " + limit, null);
    };
  }

  boolean isFailure() {
    return next == HealthStatus.FAILED;
  }

  boolean wasAskedFor() {
    return next == HealthStatus.STOPPING;
  }
}
