package dev.holdfast.model.ops;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A worker, as all that is known of it shows it: the row of its process, and the leases it holds.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param supervisor null for a worker without a supervisor, which is known by its leases only
 * @param workerId the name under which it holds leases, if it does
 * @param status one that is silent is shown as crashed
 * @param stoppedByOperator it has no process, and gets none
 * @param runningJobs how many jobs it holds
 * @param lastSeen the time of its last report or heartbeat
 * @param lastHeartbeat of its leases
 */
public record WorkerView(
    String component,
    @Nullable String supervisor,
    @Nullable String workerId,
    HealthStatus status,
    boolean pausedByOperator,
    boolean stoppedByOperator,
    @Nullable Long pid,
    @Nullable JobId currentJob,
    long runningJobs,
    List<String> queues,
    int restarts,
    int totalRestarts,
    @Nullable Instant lastRestart,
    @Nullable Instant nextRestart,
    @Nullable WorkerExit exit,
    @Nullable String reason,
    Instant lastSeen,
    @Nullable Instant lastHeartbeat,
    @Nullable Instant oldestJobStartedAt,
    @Nullable Json details) {
  public WorkerView {
    queues = List.copyOf(queues);
  }

  /** For the screen: the status, and what else there is to it. */
  public String shown() {
    return stoppedByOperator
        ? "stopped"
        : pausedByOperator ? status.text() + ", paused" : status.text();
  }

  static WorkerView of(WorkerHealth row, @Nullable Holder leases) {
    return new WorkerView(
        row.component(),
        row.supervisor(),
        leases == null ? null : leases.worker(),
        row.effectiveStatus(),
        row.pausedByOperator(),
        row.isStopped(),
        row.pid(),
        row.currentJob(),
        leases == null ? 0 : leases.held(),
        List.of(row.queue()),
        row.restarts(),
        row.totalRestarts(),
        row.lastRestart(),
        row.nextRestart(),
        row.exitCode() == null ? null : WorkerExit.of(row.exitCode()),
        row.why(),
        row.lastSeen(),
        leases == null ? null : leases.heartbeatAt(),
        leases == null ? null : leases.oldestJobStartedAt(),
        row.details());
  }

  /** One that asks for jobs and holds none. */
  static WorkerView of(Poller poller) {
    return new WorkerView(
        WorkerFleet.component(poller.worker()),
        null,
        poller.worker(),
        HealthStatus.HEALTHY,
        false,
        false,
        null,
        null,
        0,
        poller.queues(),
        0,
        0,
        null,
        null,
        null,
        null,
        poller.askedAt(),
        null,
        null,
        null);
  }

  static WorkerView of(Holder leases, @Nullable Poller poller, Instant now) {
    // One that asks for more jobs is there, even if it has lost those that it had.
    boolean expired = leases.isSilent(now) && poller == null;
    return new WorkerView(
        WorkerFleet.component(leases.worker()),
        null,
        leases.worker(),
        expired ? HealthStatus.CRASHED : HealthStatus.HEALTHY,
        false,
        false,
        null,
        null,
        leases.held(),
        poller == null ? leases.queues() : union(leases.queues(), poller.queues()),
        0,
        0,
        null,
        null,
        null,
        expired ? "its leases ran out at " + leases.leaseExpiresAt() : null,
        leases.heartbeatAt(),
        leases.heartbeatAt(),
        leases.oldestJobStartedAt(),
        null);
  }

  private static List<String> union(List<String> some, List<String> others) {
    return Stream.concat(some.stream(), others.stream()).distinct().sorted().toList();
  }
}
