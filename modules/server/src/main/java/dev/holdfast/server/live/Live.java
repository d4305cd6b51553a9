package dev.holdfast.server.live;

import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.ops.WorkerHealth;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What live events say, in the form they are sent. */
final class Live {
  private Live() {}

  /**
   * How a queue is doing.
   *
   * @param pending due now
   * @param completed within the window, as are failed and cancelled
   * @param averageRunMs of those completed
   * @param emptyInMs when nothing will be pending or running any more, if it goes on like this
   */
  record Queue(
      @Nullable String queue,
      long pending,
      long running,
      long retrying,
      long waiting,
      long delayed,
      @Nullable Boolean paused,
      @Nullable Integer queues,
      @Nullable Integer pausedQueues,
      long completed,
      long failed,
      long cancelled,
      @Nullable Long averageRunMs,
      double ratePerSecond,
      @Nullable Long emptyInMs,
      long windowMs) {}

  /** Those that changed; in a snapshot, those that run or changed lately. */
  record Jobs(List<JobBrief> jobs) {}

  /** Those whose programs have printed something since it was said last; never in a snapshot. */
  record Logs(List<JobId> jobs) {}

  /**
   * How a worker is doing.
   *
   * @param component its place, {@code worker:{queue}:{n}}
   * @param supervisor who looks after it; null for one that is known by its leases alone
   * @param worker the name under which it holds jobs, if it does
   * @param status of the health of its process; of others, what their leases tell
   * @param jobs the latest, when it holds very many
   * @param lastHeartbeat is not told of each time
   */
  record Worker(
      String component,
      @Nullable String supervisor,
      @Nullable String worker,
      String status,
      boolean paused,
      boolean stopped,
      @Nullable Long pid,
      long held,
      List<JobId> jobs,
      int restarts,
      @Nullable Instant nextRestart,
      @Nullable Exit exit,
      @Nullable String reason,
      Instant lastHeartbeat) {
    /** It holds jobs, and its leases are good. */
    static final String HEALTHY = "healthy";

    /** It holds none; whether it is there only it knows. */
    static final String IDLE = "idle";

    /** Its leases ran out. */
    static final String CRASHED = "crashed";

    /** Its row is gone, or it has held nothing for a while; it is not told of any more. */
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
          row.believed().text(),
          row.paused(),
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

    /** Two machines may have a worker in the same place. */
    String key() {
      return component + " of " + (supervisor == null ? worker : "supervisor " + supervisor);
    }

    /** What was before, if nothing is new but a heartbeat, and that not much. */
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
          worker,
          status,
          paused,
          stopped,
          pid,
          held,
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
          worker,
          now,
          paused,
          stopped,
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

  /** How all of it is doing. */
  record Health(String status, List<Reason> reasons) {
    static final Health HEALTHY = new Health("healthy", List.of());

    static Health degraded(List<Reason> reasons) {
      return reasons.isEmpty() ? HEALTHY : new Health("degraded", reasons);
    }

    static Health error(Reason reason) {
      return new Health("error", List.of(reason));
    }
  }

  /** One thing that is wrong. */
  record Reason(String code, String message) {}
}
