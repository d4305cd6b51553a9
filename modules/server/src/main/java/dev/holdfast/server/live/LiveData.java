package dev.holdfast.server.live;

import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.Poller;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.queue.health.WorkerLogs;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The data of live events, in the form they are sent. */
final class LiveData {
  private LiveData() {}

  /**
   * The state of a queue.
   *
   * @param pending due now
   * @param paused whether nothing is claimed from it
   * @param pausedAt since when it is paused by itself
   * @param workersPausedAt since when all workers are paused, and every queue with them
   * @param completed within the window, as are failed and cancelled
   * @param averageRunMs of those completed
   * @param emptyInMs until nothing is pending or running, at the current rate
   */
  record Queue(
      @Nullable String queue,
      long pending,
      long running,
      long retrying,
      long waiting,
      long delayed,
      @Nullable Boolean paused,
      @Nullable Instant pausedAt,
      @Nullable Instant workersPausedAt,
      @Nullable Integer queues,
      @Nullable Integer pausedQueues,
      long completed,
      long failed,
      long cancelled,
      @Nullable Long averageRunMs,
      double ratePerSecond,
      @Nullable Long emptyInMs,
      long windowMs) {}

  /**
   * Those that changed; in a snapshot, those that run or changed lately.
   *
   * @param dropped those of which no further change is told; null if there are none
   */
  record Jobs(List<JobBrief> jobs, @Nullable List<JobId> dropped) {}

  /** Jobs with new lines in their logs since the last event; never in a snapshot. */
  record Logs(List<JobId> jobs) {}

  /** Workers with new lines in their logs since the last event; never in a snapshot. */
  record GrownWorkerLogs(List<WorkerLogs.Name> workers) {}

  /**
   * The state of a worker.
   *
   * @param component its place, {@code worker:{queue}:{n}}
   * @param supervisor null for a worker that is known by its leases only
   * @param workerId the name under which it holds jobs, if it does
   * @param status of its process; of workers without a supervisor, derived from their leases
   * @param jobs the latest, when it holds very many
   * @param lastHeartbeat may be older than the last one: not each is published
   */
  record Worker(
      String component,
      @Nullable String supervisor,
      @Nullable String workerId,
      String status,
      boolean pausedByOperator,
      boolean stoppedByOperator,
      @Nullable Long pid,
      long runningJobs,
      List<JobId> jobs,
      int restarts,
      @Nullable Instant nextRestart,
      @Nullable Exit exit,
      @Nullable String reason,
      Instant lastHeartbeat) {
    /** It holds jobs, and its leases are good. */
    static final String HEALTHY = "healthy";

    /** It holds none, and asks for some, or whether it still runs is not known. */
    static final String IDLE = "idle";

    /** Its leases ran out. */
    static final String CRASHED = "crashed";

    /** Its row is gone, or it has held nothing for a while: the last event about it. */
    static final String GONE = "gone";

    /** How its last process ended. */
    record Exit(int code, String name) {}

    Worker {
      jobs = List.copyOf(jobs);
    }

    static Worker of(WorkerHealth row, @Nullable Holder leases) {
      Integer code = row.exitCode();
      return new Worker(
          row.component(),
          row.supervisor(),
          leases == null ? null : leases.worker(),
          row.effectiveStatus().text(),
          row.pausedByOperator(),
          row.isStopped(),
          row.pid(),
          leases == null ? 0 : leases.held(),
          leases == null ? List.of() : leases.jobs(),
          row.restarts(),
          row.nextRestart(),
          code == null ? null : new Exit(code, WorkerExit.of(code).name()),
          row.why(),
          row.lastSeen());
    }

    /** One that asks for jobs and holds none. */
    static Worker of(Poller poller) {
      return new Worker(
          WorkerFleet.component(poller.worker()),
          null,
          poller.worker(),
          IDLE,
          false,
          false,
          null,
          0,
          List.of(),
          0,
          null,
          null,
          null,
          poller.askedAt());
    }

    static Worker of(Holder leases, Instant now) {
      return new Worker(
          WorkerFleet.component(leases.worker()),
          null,
          leases.worker(),
          leases.isSilent(now) ? CRASHED : HEALTHY,
          false,
          false,
          null,
          leases.held(),
          leases.jobs(),
          0,
          null,
          null,
          null,
          leases.heartbeatAt());
    }

    /** Unique, also if workers on two machines have the same component. */
    String key() {
      return component + " of " + (supervisor == null ? workerId : "supervisor " + supervisor);
    }

    /** The state before, if nothing differs but a heartbeat that is not much newer. */
    Worker unless(Worker before, Duration newer) {
      boolean same =
          before.lastHeartbeat.plus(newer).isAfter(lastHeartbeat)
              && at(before.lastHeartbeat).equals(before);
      return same ? before : this;
    }

    Worker idle() {
      return ended(status.equals(CRASHED) ? CRASHED : IDLE);
    }

    Worker gone() {
      return ended(GONE);
    }

    private Worker at(Instant heartbeat) {
      return new Worker(
          component,
          supervisor,
          workerId,
          status,
          pausedByOperator,
          stoppedByOperator,
          pid,
          runningJobs,
          jobs,
          restarts,
          nextRestart,
          exit,
          reason,
          heartbeat);
    }

    private Worker ended(String now) {
      return new Worker(
          component,
          supervisor,
          workerId,
          now,
          pausedByOperator,
          stoppedByOperator,
          null,
          0,
          List.of(),
          restarts,
          null,
          exit,
          reason,
          lastHeartbeat);
    }
  }

  /** The health of the system. */
  record Health(String status, List<Reason> reasons) {
    static final Health HEALTHY = new Health("healthy", List.of());

    static Health degraded(List<Reason> reasons) {
      return reasons.isEmpty() ? HEALTHY : new Health("degraded", reasons);
    }

    static Health error(Reason reason) {
      return new Health("error", List.of(reason));
    }
  }

  /** One reason why it is not healthy. */
  record Reason(String code, String message) {}
}
