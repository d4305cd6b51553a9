package dev.holdfast.server.worker;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskStep;
import dev.holdfast.contract.task.TaskSteps;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import dev.holdfast.server.worker.FencedOperations.Held;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checkpoints for workers in any language: a worker reads what the steps of its task left, and
 * writes the state of the current one. Sent twice, late or out of order, a report does no harm.
 */
public final class StepsApi {
  private static final Map<StepState, String> EVENTS =
      Map.of(
          StepState.RUNNING, EventType.STEP_STARTED,
          StepState.DONE, EventType.STEP_FINISHED,
          StepState.FAILED, EventType.STEP_FAILED);

  private final Queries queries;
  private final FencedOperations operations;
  private final TaskRefusals refusals;
  private final InstantSource clock;

  public StepsApi(
      Queries queries, FencedOperations operations, TaskRefusals refusals, InstantSource clock) {
    this.queries = queries;
    this.operations = operations;
    this.refusals = refusals;
    this.clock = clock;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/tasks/{taskId}/steps", Guard.TASK, this::steps),
        Route.put("/v1/tasks/{taskId}/steps/{stepId}", Guard.TASK, this::report));
  }

  private Answer steps(Call call) {
    LeaseHolder.Token holder = new LeaseHolder.Token(call.token().scope());
    Lease lease = holder.scope().lease();
    refusals.mustHold("steps", lease);
    return Answer.ok(new TaskSteps(operations.steps(holder, lease)));
  }

  private Answer report(Call call) {
    String id = Limits.stepId(call.value("stepId"));
    TaskStep step = call.callback(TaskStep.class);
    LeaseHolder.Token holder = TaskRefusals.holder(call.token(), step.attempt(), step.attemptId());
    Lease lease = holder.scope().lease();
    operations.keepVersion(holder, lease, step.version());
    Report report = report(lease, id, step, handledCommand(lease, id, step));
    if (operations.report(List.of(new Held<>(holder, lease, report))).getFirst()
        == Ack.LEASE_LOST) {
      throw refusals.lost("step", lease);
    }
    return Answer.ok(new TaskStep.Answer(true, clock.instant()));
  }

  /**
   * The operator's request that this step carries out. Null if the request is not pending any more:
   * the step was reported before and the answer lost, or another request replaced it.
   */
  private PendingCommand.@Nullable Recovery handledCommand(Lease lease, String id, TaskStep step) {
    PendingCommand.Recovery asked =
        step.handledCommand() == null ? null : queries.pendingCommand(lease.job()).recovery();
    if (asked == null || !asked.updatedAt().equals(step.handledCommand())) {
      return null;
    }
    if (!asked.stepId().equals(id)) {
      throw new Problem(
          422,
          "invalid_value",
          "field 'handledCommand' names a request for step '%s', not this one"
              .formatted(asked.stepId()));
    }
    return asked;
  }

  private static Report.Step report(
      Lease lease, String id, TaskStep step, PendingCommand.@Nullable Recovery handledCommand) {
    ObjectNode data =
        Wire.object()
            .put("stepId", id)
            .put("stepIndex", step.stepIndex())
            .put("attempt", step.stepAttempt())
            .put("failureClass", step.failureClass())
            .put("failureSignature", Scrubbed.text(step.failureSignature()))
            .put("diffHash", step.diffHash())
            .put("strategy", step.strategy())
            .put("summary", Scrubbed.text(step.summary()));
    List<Report.Entry> events = new ArrayList<>();
    if (handledCommand != null) {
      events.add(
          entry(EventType.RECOVERY_ACK, ack(step.stepIndex(), step.stepAttempt(), handledCommand)));
    }
    Duration took = step.tookMs() == null ? null : Duration.ofMillis(step.tookMs());
    boolean saysMore =
        step.state() == StepState.FAILED || step.summary() != null || step.diffHash() != null;
    if (took != null && saysMore) {
      events.add(
          entry(
              EventType.STEP_STARTED,
              Wire.object()
                  .put("stepId", id)
                  .put("stepIndex", step.stepIndex())
                  .put("attempt", step.stepAttempt())));
    }
    if (took == null || saysMore) {
      events.add(entry(Wire.present("state", EVENTS.get(step.state())), data));
    }
    return new Report.Step(
        lease,
        id,
        step.stepIndex(),
        step.state(),
        step.stepAttempt(),
        step.state() == StepState.FAILED && "hard_reset".equals(step.strategy()),
        step.result(),
        null,
        handledCommand == null || handledCommand.action() == CommandAction.RETRY_STEP
            ? null
            : step.stepIndex(),
        handledCommand == null ? null : handledCommand.updatedAt(),
        events,
        took);
  }

  /** An operator wants a wait or a start of jobs done again, which has no attempts of its own. */
  static Report.Step dropped(Lease lease, StepStatus step, PendingCommand.Recovery asked) {
    int attempt = step.attempt() + 1;
    return new Report.Step(
        lease,
        step.id(),
        step.index(),
        StepState.FAILED,
        attempt,
        false,
        null,
        null,
        asked.action().dropsCheckpoints() ? step.index() : null,
        asked.updatedAt(),
        List.of(entry(EventType.RECOVERY_ACK, ack(step.index(), attempt, asked))));
  }

  private static ObjectNode ack(int index, int attempt, PendingCommand.Recovery handledCommand) {
    return Wire.object()
        .put("action", handledCommand.action().text())
        .put("stepId", handledCommand.stepId())
        .put("stepIndex", index)
        .put("attempt", attempt)
        .put("requestedBy", handledCommand.requestedBy())
        .put("updatedAt", handledCommand.updatedAt().toString());
  }

  private static Report.Entry entry(String type, ObjectNode data) {
    data.properties().removeIf(field -> field.getValue().isNull());
    return new Report.Entry(type, new Json(data.toString()));
  }
}
