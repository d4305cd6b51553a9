package dev.holdfast.supervisor;

import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What a worker process reports in its health row, and how long ago it did. */
final class Liveness {
  /**
   * After an outage of the database a connection pool tries again at intervals of up to five
   * seconds, so a process may report later than its supervisor connects.
   */
  private static final Duration RECONNECT = Duration.ofSeconds(10);

  private final SupervisorOptions options;
  private HealthStatus status = HealthStatus.STARTING;
  private long startedAt;
  private @Nullable Instant lastSeen;
  private long reportedAt;
  private long healthySince;
  private @Nullable String problem;
  private long problemSince;

  /** What its supervisor does next. */
  sealed interface Verdict {
    /** Nothing. */
    record Alive() implements Verdict {}

    /** Kills the process: it hangs. */
    record Kill(String reason) implements Verdict {}

    /** Restarts the process: it works, but something in it does not recover. */
    record Recycle(String problem) implements Verdict {}
  }

  Liveness(SupervisorOptions options, long now) {
    this.options = options;
    this.startedAt = now;
    this.reportedAt = now;
  }

  /** Whether it has just become healthy. */
  boolean onReport(WorkerHealth row, long now) {
    if (!row.lastSeen().equals(lastSeen)) {
      lastSeen = row.lastSeen();
      reportedAt = now;
    }
    boolean becameHealthy = row.status() == HealthStatus.HEALTHY && status == HealthStatus.STARTING;
    if (becameHealthy) {
      healthySince = now;
    }
    status = row.status();
    String reported = row.status() == HealthStatus.HEALTHY ? row.reason() : null;
    if (reported != null && problem == null) {
      problemSince = now;
    }
    problem = reported;
    return becameHealthy;
  }

  /** Rows could not be read, so a missing report is not the fault of the process. */
  void couldNotBeHeard(long now) {
    reportedAt = now + RECONNECT.toNanos();
    if (status == HealthStatus.STARTING) {
      startedAt = now;
    }
  }

  HealthStatus status() {
    return status;
  }

  Duration healthyFor(long now) {
    return Duration.ofNanos(now - healthySince);
  }

  Verdict check(long now) {
    if (status == HealthStatus.STARTING) {
      return now - startedAt > options.boot().toNanos()
          ? new Verdict.Kill(
              "it was not healthy %s after its start".formatted(shown(options.boot())))
          : new Verdict.Alive();
    }
    if (now - reportedAt > options.silence().toNanos()) {
      return new Verdict.Kill("it reported nothing for " + shown(options.silence()));
    }
    if (problem != null && now - problemSince > options.recycle().toNanos()) {
      return new Verdict.Recycle(problem);
    }
    return new Verdict.Alive();
  }

  static String shown(Duration duration) {
    return duration.toMillis() / 1000.0 + " s";
  }
}
