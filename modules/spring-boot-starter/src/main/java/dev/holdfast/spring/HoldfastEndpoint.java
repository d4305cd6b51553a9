package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.value.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/** {@code /actuator/holdfast}: jobs by state, queues and workers. */
@Endpoint(id = "holdfast")
public final class HoldfastEndpoint {
  private final Holdfast holdfast;
  private final HoldfastWorkers workers;

  HoldfastEndpoint(Holdfast holdfast, HoldfastWorkers workers) {
    this.holdfast = holdfast;
    this.workers = workers;
  }

  /** All there is. */
  public record Overview(
      Map<JobState, Long> jobs, List<QueueOverview> queues, Map<String, Object> workers) {}

  /** A queue that has unfinished jobs or settings. */
  public record QueueOverview(
      String name,
      long due,
      long delayed,
      long retrying,
      long waiting,
      long running,
      @Nullable Duration oldestDue,
      @Nullable Instant pausedAt,
      @Nullable Instant workersPausedAt) {

    static QueueOverview of(QueueStatus queue) {
      return new QueueOverview(
          queue.name(),
          queue.due(),
          queue.delayed(),
          queue.retrying(),
          queue.waiting(),
          queue.running(),
          queue.oldest(),
          queue.pausedAt(),
          queue.workersPausedAt());
    }
  }

  @ReadOperation
  public Overview overview() {
    return new Overview(
        holdfast.queries().statistics(Tenant.ANY).byState(),
        holdfast.admin().queues(Tenant.ANY).stream().map(QueueOverview::of).toList(),
        workers.report());
  }

  @ReadOperation
  public QueueOverview queue(@Selector String queue) {
    return QueueOverview.of(holdfast.admin().queue(queue, Tenant.ANY));
  }

  /** Pauses the queue for all workers, or resumes it. */
  @WriteOperation
  public QueueOverview pause(@Selector String queue, boolean paused) {
    if (paused) {
      holdfast.admin().pause(queue);
    } else {
      holdfast.admin().resume(queue);
    }
    return queue(queue);
  }
}
