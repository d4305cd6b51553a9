package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerView;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A worker, as its process and its leases show it. */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record WorkerResource(
    String component,
    @Nullable String supervisor,
    @Nullable String worker,
    String status,
    boolean paused,
    boolean stopped,
    @Nullable Long pid,
    @Nullable JobId currentJob,
    long jobs,
    List<String> queues,
    int restarts,
    @Nullable Instant lastRestart,
    @Nullable Instant nextRestart,
    @Nullable WorkerExit exit,
    @Nullable String reason,
    Instant lastSeen,
    @Nullable Instant lastHeartbeat,
    @Nullable Instant oldestStart,
    @Nullable JsonNode details) {
  public WorkerResource {
    Wire.present("component", component);
    Wire.present("status", status);
    Wire.present("lastSeen", lastSeen);
    queues = queues == null ? List.of() : List.copyOf(queues);
  }

  public static WorkerResource of(WorkerView worker) {
    Integer exit = worker.exitCode();
    return new WorkerResource(
        worker.component(),
        worker.supervisor(),
        worker.worker(),
        worker.status().text(),
        worker.paused(),
        worker.stopped(),
        worker.pid(),
        worker.currentJob(),
        worker.jobs(),
        worker.queues(),
        worker.restarts(),
        worker.lastRestart(),
        worker.nextRestart(),
        exit == null ? null : WorkerExit.of(exit),
        worker.reason(),
        worker.lastSeen(),
        worker.lastHeartbeat(),
        worker.oldestStart(),
        Wire.tree(worker.details()));
  }

  public WorkerView view() {
    return new WorkerView(
        component,
        supervisor,
        worker,
        HealthStatus.of(status),
        paused,
        stopped,
        pid,
        currentJob,
        jobs,
        queues,
        restarts,
        lastRestart,
        nextRestart,
        exit == null ? null : exit.code(),
        reason,
        lastSeen,
        lastHeartbeat,
        oldestStart,
        Wire.json(details));
  }

  /**
   * All workers.
   *
   * @param pausedSince since when all of them are paused; null when they are not
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Workers(@Nullable Instant pausedSince, List<WorkerResource> workers) {
    public Workers {
      workers = List.copyOf(Wire.present("workers", workers));
    }
  }
}
