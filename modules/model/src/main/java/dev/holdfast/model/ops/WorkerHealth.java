package dev.holdfast.model.ops;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * The health row of a worker process, written by its supervisor and by itself.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param supervisor the name of its supervisor
 * @param component the name of the worker, {@code worker:{queue}:{n}}
 * @param incarnation the number of its process, counted from the first
 * @param silentFor time since its last report, by the database's clock
 * @param silentAfter how long it may report nothing before it counts as crashed; null while it
 *     starts, because its supervisor decides then
 * @param currentJob the job that it has been running longest
 * @param pausedByOperator whether an operator has paused this worker
 * @param restarts after crashes, since it was last healthy for long enough
 * @param totalRestarts after crashes, since its supervisor or an operator started it
 * @param nextRestart when it will be restarted; null when it will not
 * @param exitCode of its last process, if one has ended
 * @param reason why it has this status, unless that needs no reason
 * @param details further values that the process reports
 */
public record WorkerHealth(
    String supervisor,
    String component,
    int incarnation,
    HealthStatus status,
    @Nullable Long pid,
    @Nullable Instant processStartedAt,
    Instant lastSeen,
    Duration silentFor,
    @Nullable Duration silentAfter,
    @Nullable JobId currentJob,
    boolean pausedByOperator,
    int restarts,
    int totalRestarts,
    @Nullable Instant lastRestart,
    @Nullable Instant nextRestart,
    @Nullable Integer exitCode,
    @Nullable String reason,
    Json details,
    Instant createdAt) {
  private static final String PREFIX = "worker:";

  /** The default of {@code silentAfter}. */
  public static final Duration TIMEOUT = Duration.ofSeconds(30);

  public static String component(String queue, int number) {
    return PREFIX + queue + ":" + number;
  }

  /** The queue of a component id; no queue has a colon in its name. */
  public static String queueOf(String component) {
    String rest = component.startsWith(PREFIX) ? component.substring(PREFIX.length()) : component;
    int colon = rest.lastIndexOf(':');
    return colon < 0 ? rest : rest.substring(0, colon);
  }

  public String queue() {
    return queueOf(component);
  }

  /** The first part of the worker names that hold leases; a random part follows. */
  public static String namePrefix(String component, String host, long pid) {
    return component + "@" + host + "." + pid + ".";
  }

  /** Whether it was stopped by an operator and has no process. */
  public boolean isStopped() {
    return status == HealthStatus.STOPPING && pid == null && nextRestart == null;
  }

  /** Whether it has reported nothing for too long. */
  public boolean isSilent() {
    return status.isAlive()
        && pid != null
        && silentAfter != null
        && silentFor.compareTo(silentAfter) > 0;
  }

  /** Its status as shown: a process that reports nothing counts as crashed. */
  public HealthStatus effectiveStatus() {
    return isSilent() ? HealthStatus.CRASHED : status;
  }

  /** The reason of the shown status, unless it needs none. */
  public @Nullable String why() {
    return isSilent() ? "no report since " + lastSeen.truncatedTo(ChronoUnit.SECONDS) : reason;
  }

  /** Whether it starts because its last process crashed, and not because of a command. */
  public boolean isStartedAfterCrash() {
    // A starting process does not report, so it was last seen when its row was written.
    return status == HealthStatus.STARTING
        && lastRestart != null
        && !lastRestart.isBefore(lastSeen);
  }

  /** When this was read, by the database's clock. */
  public Instant readAt() {
    return lastSeen.plus(silentFor);
  }

  /** The age of its process. */
  public Duration age() {
    return Duration.between(processStartedAt == null ? lastSeen : processStartedAt, readAt());
  }
}
