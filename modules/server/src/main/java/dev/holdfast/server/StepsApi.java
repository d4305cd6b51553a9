package dev.holdfast.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.TaskStep;
import dev.holdfast.contract.TaskSteps;
import dev.holdfast.contract.Wire;
import dev.holdfast.model.Ack;
import dev.holdfast.model.ControlAction;
import dev.holdfast.model.EventType;
import dev.holdfast.model.Json;
import dev.holdfast.model.Lease;
import dev.holdfast.model.Limits;
import dev.holdfast.model.LiveControl;
import dev.holdfast.model.Report;
import dev.holdfast.model.StepState;
import dev.holdfast.queue.Queue;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checkpoints for workers in any language: what the steps of a task left, and how the one at hand
 * gets on. Told twice, late or out of order, it does no harm.
 */
final class StepsApi {
  private static final Map<StepState, String> EVENTS =
      Map.of(
          StepState.RUNNING, EventType.STEP_STARTED,
          StepState.DONE, EventType.STEP_FINISHED,
          StepState.FAILED, EventType.STEP_FAILED);

  private final Queue queue;
  private final Fence fence;
  private final InstantSource clock;

  StepsApi(Queue queue, Fence fence, InstantSource clock) {
    this.queue = queue;
    this.fence = fence;
    this.clock = clock;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/v1/tasks/{taskId}/steps", Guard.TASK, this::steps),
        Route.put("/v1/tasks/{taskId}/steps/{stepId}", Guard.TASK, this::tell));
  }

  private Answer steps(Call call) {
    Lease lease = call.token().scope().lease();
    fence.mustHold("steps", lease);
    return Answer.ok(TaskSteps.of(queue.steps(lease.job())));
  }

  private Answer tell(Call call) {
    String id = Limits.stepId(call.value("stepId"));
    TaskStep step = call.callback(TaskStep.class);
    Lease lease = fence.guarded(call.token(), step.attempt(), step.attemptId());
    Report.Step told = told(lease, id, step, honoured(lease, id, step));
    if (queue.report(List.of(told)).getFirst() == Ack.LEASE_LOST) {
      throw fence.lost("step", lease);
    }
    return Answer.ok(new TaskStep.Answer(true, clock.instant()));
  }

  /**
   * The request that this carries out. None when it is asked no more: it was told before, and the
   * answer lost, or another one has taken its place.
   */
  private LiveControl.@Nullable Recovery honoured(Lease lease, String id, TaskStep step) {
    LiveControl.Recovery asked =
        step.honoured() == null ? null : queue.control(lease.job()).recovery();
    if (asked == null || !asked.updatedAt().equals(step.honoured())) {
      return null;
    }
    if (!asked.stepId().equals(id)) {
      throw new Problem(
          422,
          "invalid_value",
          "field 'honoured' names a request for step '%s', not this one".formatted(asked.stepId()));
    }
    return asked;
  }

  private static Report.Step told(
      Lease lease, String id, TaskStep step, LiveControl.@Nullable Recovery honoured) {
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
    if (honoured != null) {
      events.add(entry(EventType.RECOVERY_ACK, ack(step, honoured)));
    }
    events.add(entry(Wire.present("state", EVENTS.get(step.state())), data));
    return new Report.Step(
        lease,
        id,
        step.stepIndex(),
        step.state(),
        step.stepAttempt(),
        step.state() == StepState.FAILED && "hard_reset".equals(step.strategy()),
        step.result(),
        null,
        honoured == null || honoured.action() == ControlAction.RETRY_STEP ? null : step.stepIndex(),
        honoured == null ? null : honoured.updatedAt(),
        events);
  }

  private static ObjectNode ack(TaskStep step, LiveControl.Recovery honoured) {
    return Wire.object()
        .put("action", honoured.action().text())
        .put("stepId", honoured.stepId())
        .put("stepIndex", step.stepIndex())
        .put("attempt", step.stepAttempt())
        .put("requestedBy", honoured.requestedBy())
        .put("updatedAt", honoured.updatedAt().toString());
  }

  private static Report.Entry entry(String type, ObjectNode data) {
    data.properties().removeIf(field -> field.getValue().isNull());
    return new Report.Entry(type, new Json(data.toString()));
  }
}
