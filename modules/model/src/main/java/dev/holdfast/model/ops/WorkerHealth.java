package dev.holdfast.model.ops;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A worker process, as its supervisor and itself tell about it.
 *
 * @param supervisor who looks after it
 * @param component its place, {@code worker:{queue}:{n}}
 * @param incarnation which process of that place this is
 * @param silentFor since it was last heard, by the database's clock
 * @param silentAfter how long it may be silent before its row is not believed any more; null while
 *     it starts, for then its supervisor is there to judge
 * @param currentJob the one it has been at longest
 * @param paused by an operator, this one alone
 * @param nextRestart when it is to be started again; null when nobody will
 * @param exitCode of its last process, if one has ended
 * @param reason why it is as it is, unless that needs no reason
 * @param details what the process tells of itself
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
    boolean paused,
    int restarts,
    @Nullable Instant lastRestart,
    @Nullable Instant nextRestart,
    @Nullable Integer exitCode,
    @Nullable String reason,
    Json details,
    Instant createdAt) {
  private static final String PREFIX = "worker:";

  /** Unless it says otherwise, one that is silent for longer is not believed to be healthy. */
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

  /** What holds leases begins like this; after it comes what tells one start from the next. */
  public static String namePrefix(String component, String host, long pid) {
    return component + "@" + host + "." + pid + ".";
  }

  /** It was stopped by an operator, has no process, and gets none. */
  public boolean isStopped() {
    return status == HealthStatus.STOPPING && pid == null && nextRestart == null;
  }

  /** It was not heard for longer than it should be silent. */
  public boolean isSilent() {
    return status.isAlive()
        && pid != null
        && silentAfter != null
        && silentFor.compareTo(silentAfter) > 0;
  }

  /** What is believed of it: one that is silent has crashed. */
  public HealthStatus believed() {
    return isSilent() ? HealthStatus.CRASHED : status;
  }

  /** Why that is believed, unless it needs no reason. */
  public @Nullable String why() {
    return isSilent() ? "not heard of since " + lastSeen.truncatedTo(ChronoUnit.SECONDS) : reason;
  }

  /** Whether it starts because the process before it crashed, and not because somebody said so. */
  public boolean isStartedAfterCrash() {
    // One that starts says nothing, so it was last seen when its row was made for it.
    return status == HealthStatus.STARTING
        && lastRestart != null
        && !lastRestart.isBefore(lastSeen);
  }

  /** When this was read, by the database's clock. */
  public Instant readAt() {
    return lastSeen.plus(silentFor);
  }

  /** For how long its process has been there. */
  public Duration age() {
    return Duration.between(processStartedAt == null ? lastSeen : processStartedAt, readAt());
  }
}
