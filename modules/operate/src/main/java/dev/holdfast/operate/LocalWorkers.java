package dev.holdfast.operate;

import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.contract.operate.WorkerOperator;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.command.AcceptedWorkerCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.ProcessExit;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.health.WorkerLogs;
import dev.holdfast.queue.health.WorkerRegistry;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Workers, on the database. */
final class LocalWorkers implements WorkerOperator {
  private final Admin admin;
  private final WorkerRegistry workers;
  private final Principal caller;

  LocalWorkers(JobStore store, Principal caller) {
    this.admin = store.admin();
    this.workers = store.workers();
    this.caller = caller;
  }

  private WorkerRegistry workers() {
    caller.mustSeeEveryTenant("a worker");
    return workers;
  }

  @Override
  public Operator.Workers list() {
    return of(workers.readings().fleet(caller.tenant()));
  }

  /** The name of a key, and what an operator says to others, is not for a tenant. */
  Operator.Workers of(WorkerFleet fleet) {
    Pause pause = admin.workersPause().orElse(null);
    return new Operator.Workers(
        pause == null ? null : pause.at(), caller.seesEveryTenant() ? pause : null, fleet.all());
  }

  @Override
  public Optional<Instant> pausedAt() {
    return admin.workersPausedAt();
  }

  @Override
  public List<ProcessExit> exits(String component, @Nullable String supervisor) {
    return workers().exits().of(component, supervisor);
  }

  @Override
  public LogTail log(String component, String supervisor, LogCursor after) {
    return workers().logs().read(new WorkerLogs.Name(supervisor, component), after);
  }

  @Override
  public List<WorkerCommand> command(
      String component, @Nullable String supervisor, WorkerCommand.Action action, String reason) {
    WorkerCommand.Draft draft =
        new WorkerCommand.Draft(component, supervisor, action, caller.name(), reason);
    return switch (workers().commands().ask(workers.readings().fleet(Tenant.ANY), draft)) {
      case AcceptedWorkerCommand.Given(var commands) -> commands;
      case AcceptedWorkerCommand.Unknown(var message) ->
          throw new OperatorException(OperatorException.Reason.NOT_FOUND, message);
      case AcceptedWorkerCommand.Refused(var code, var message) ->
          throw new OperatorException(
              OperatorException.Reason.of(code).orElse(OperatorException.Reason.REFUSED), message);
    };
  }

  @Override
  public void pauseAll(String reason) {
    caller.mustSeeEveryTenant("a worker");
    admin.pauseAllWorkers(new Pause.Draft(caller.name(), reason));
  }

  @Override
  public Resumed resumeAll(String reason) {
    caller.mustSeeEveryTenant("a worker");
    boolean were = admin.resumeAllWorkers();
    return new Resumed(were, workers.commands().resumeFailed(caller.name(), reason));
  }
}
