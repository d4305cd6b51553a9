package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.resource.QueueResource.Paused;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Pause;
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
    @Nullable String workerId,
    String status,
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
        worker.workerId(),
        worker.status().text(),
        worker.pausedByOperator(),
        worker.stoppedByOperator(),
        worker.pid(),
        worker.currentJob(),
        worker.runningJobs(),
        worker.queues(),
        worker.restarts(),
        worker.totalRestarts(),
        worker.lastRestart(),
        worker.nextRestart(),
        exit == null ? null : WorkerExit.of(exit),
        worker.reason(),
        worker.lastSeen(),
        worker.lastHeartbeat(),
        worker.oldestJobStartedAt(),
        Wire.tree(worker.details()));
  }

  public WorkerView view() {
    return new WorkerView(
        component,
        supervisor,
        workerId,
        HealthStatus.of(status),
        pausedByOperator,
        stoppedByOperator,
        pid,
        currentJob,
        runningJobs,
        queues,
        restarts,
        totalRestarts,
        lastRestart,
        nextRestart,
        exit == null ? null : exit.code(),
        reason,
        lastSeen,
        lastHeartbeat,
        oldestJobStartedAt,
        Wire.json(details));
  }

  /**
   * All workers.
   *
   * @param workersPausedAt since when all of them are paused; null when they are not
   * @param workersPause who has paused them, for keys of all tenants
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Workers(
      @Nullable Instant workersPausedAt,
      @Nullable Paused workersPause,
      List<WorkerResource> workers) {
    public Workers {
      workers = List.copyOf(Wire.present("workers", workers));
    }

    /**
     * @param everyTenant whether it is for a caller that may know who has paused them
     */
    public static Workers of(Operator.Workers all, boolean everyTenant) {
      return new Workers(
          all.workersPausedAt(),
          everyTenant ? QueueResource.Paused.of(all.pause()) : null,
          all.workers().stream().map(WorkerResource::of).toList());
    }

    public Operator.Workers all() {
      Pause unnamed = workersPausedAt == null ? null : new Pause(workersPausedAt, null, null);
      return new Operator.Workers(
          workersPause == null ? unnamed : workersPause.pause(),
          workers.stream().map(WorkerResource::view).toList());
    }
  }
}
