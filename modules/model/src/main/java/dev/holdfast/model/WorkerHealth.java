package dev.holdfast.model;

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
 * @param currentJob the one it has been at longest
 * @param paused by an operator, this one alone
 * @param nextRestart when it is to be started again
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

  /** One that is silent for longer is not believed to be healthy, whatever its row says. */
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

  /** It was stopped by an operator and has no process. */
  public boolean isStopped() {
    return status == HealthStatus.STOPPING && pid == null;
  }

  /** Neither it nor anybody who looks after it has been heard. */
  public boolean isSilent() {
    return status.isAlive() && pid != null && silentFor.compareTo(TIMEOUT) > 0;
  }

  /** When this was read, by the database's clock. */
  public Instant readAt() {
    return lastSeen.plus(silentFor);
  }

  /** For how long its process has been there. */
  public Duration age() {
    return Duration.between(processStartedAt == null ? lastSeen : processStartedAt, readAt());
  }

  /** Why a silent one is shown as crashed. */
  public String silence() {
    return "not heard of since " + lastSeen.truncatedTo(ChronoUnit.SECONDS);
  }
}
