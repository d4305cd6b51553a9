package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.WorkerView;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All workers.
 *
 * @param workersPausedAt since when all of them are paused; null when they are not
 * @param workersPause who has paused them, for keys of all tenants
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record WorkersResource(
    @Nullable Instant workersPausedAt, @Nullable Pause workersPause, List<WorkerView> workers) {
  public WorkersResource {
    workers = List.copyOf(Wire.present("workers", workers));
  }

  /**
   * @param everyTenant whether it is for a caller that may know who has paused them
   */
  public static WorkersResource of(Operator.Workers all, boolean everyTenant) {
    return new WorkersResource(
        all.workersPausedAt(), everyTenant ? all.pause() : null, all.workers());
  }

  public Operator.Workers all() {
    Pause unnamed = workersPausedAt == null ? null : new Pause(workersPausedAt, null, null);
    return new Operator.Workers(workersPause == null ? unnamed : workersPause, workers);
  }
}
