package dev.holdfast.server;

import dev.holdfast.model.JobBrief;
import dev.holdfast.model.JobId;
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

  /**
   * How a worker is doing.
   *
   * @param component its place, {@code worker:{queue}:{n}}
   * @param worker the process that is in that place
   * @param jobs the latest, when it holds very many
   */
  record Worker(
      String component,
      String worker,
      String status,
      long held,
      List<JobId> jobs,
      Instant lastHeartbeat) {
    /** It holds jobs, and its leases are good. */
    static final String HEALTHY = "healthy";

    /** It holds none; whether it is there only it knows. */
    static final String IDLE = "idle";

    /** Its leases ran out. */
    static final String CRASHED = "crashed";

    /** It has held nothing for a while and is not told of any more. */
    static final String GONE = "gone";

    Worker {
      jobs = List.copyOf(jobs);
    }

    Worker idle() {
      return ended(status.equals(CRASHED) ? CRASHED : IDLE);
    }

    Worker gone() {
      return ended(GONE);
    }

    private Worker ended(String now) {
      return new Worker(component, worker, now, 0, List.of(), lastHeartbeat);
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
