package dev.holdfast.server.worker;

import dev.holdfast.contract.task.TaskChildren;
import dev.holdfast.contract.task.TaskWait;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import dev.holdfast.server.worker.FencedOperations.Held;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The callbacks by which the worker of a task waits and starts jobs. It need not keep what it has
 * asked for: the server looks up what is known of an id, where workers of leases do so themselves.
 */
public final class TaskWaits {
  private final Queries queries;
  private final FencedOperations operations;
  private final InstantSource clock;
  private final TaskRefusals refusals;

  public TaskWaits(
      Queries queries, FencedOperations operations, InstantSource clock, TaskRefusals refusals) {
    this.queries = queries;
    this.operations = operations;
    this.clock = clock;
    this.refusals = refusals;
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/tasks/{taskId}/wait", Guard.TASK, this::waitFor).maxBody(Route.SMALL),
        Route.post("/v1/tasks/{taskId}/children", Guard.TASK, this::start),
        Route.post("/v1/tasks/{taskId}/children/ends", Guard.TASK, this::ends));
  }

  private Answer waitFor(Call call) {
    TaskWait said = call.callback(TaskWait.class);
    LeaseHolder.Token holder = TaskRefusals.holder(call.token(), said.attempt(), said.attemptId());
    Lease lease = holder.scope().lease();
    Wait wait = said.waitFor().toWait();
    List<StepStatus> steps = steps(holder, lease, wait.id());
    StepStatus known = find(steps, wait.id()).filter(StepStatus::isDone).orElse(null);
    if (known != null) {
      refusals.mustHold("wait", lease);
      if (!known.isEndOf(wait)) {
        throw taken(known, "a wait of the sort " + wait.sort());
      }
      return over(known.waitEnd(), known);
    }
    operations.keepVersion(holder, lease, said.version());
    Suspension suspension = new Suspension(lease, index(steps, wait.id()), wait);
    return switch (operations.suspend(new Held<>(holder, lease, suspension))) {
      case WaitAnswer.Over(var end, var payload) ->
          Answer.ok(new TaskWait.Answer(TaskWait.Outcome.OVER, end, payload, clock.instant()));
      case WaitAnswer.Suspended() ->
          Answer.ok(new TaskWait.Answer(TaskWait.Outcome.SUSPENDED, null, null, clock.instant()));
      case WaitAnswer.LeaseLost() -> throw refusals.lost("wait", lease);
    };
  }

  private Answer over(@Nullable WaitEnd end, StepStatus known) {
    return Answer.ok(
        new TaskWait.Answer(TaskWait.Outcome.OVER, end, known.checkpoint(), clock.instant()));
  }

  private Answer start(Call call) {
    TaskChildren said = call.callback(TaskChildren.class);
    LeaseHolder.Token holder = TaskRefusals.holder(call.token(), said.attempt(), said.attemptId());
    Lease lease = holder.scope().lease();
    String id = said.startedAs();
    List<StepStatus> steps = steps(holder, lease, id);
    StepStatus known = find(steps, id).orElse(null);
    int time = known == null ? 1 : known.isDone() ? known.attempt() : known.attempt() + 1;
    List<Job> jobs = new ArrayList<>();
    WaitEnd started = known == null || !known.isDone() ? null : known.waitEnd();
    JobId starter = started == null || started.job() == null ? lease.job() : started.job();
    for (Job each : said.asked()) {
      jobs.add(each.id(JobId.ofChild(starter, id, time, jobs.size())));
    }
    if (known != null && known.isDone()) {
      refusals.mustHold("children", lease);
      WaitEnd end = known.waitEnd();
      if (end == null || !Integer.valueOf(jobs.size()).equals(end.jobs())) {
        throw taken(known, "a start of %,d jobs".formatted(jobs.size()));
      }
    } else {
      operations.keepVersion(holder, lease, said.version());
      Children children = new Children(lease, id, index(steps, id), jobs, jobs.size());
      if (operations.startChildren(new Held<>(holder, lease, children)) == Ack.LEASE_LOST) {
        throw refusals.lost("children", lease);
      }
    }
    return Answer.ok(new TaskChildren.Answer(jobs.stream().map(Job::id).toList(), clock.instant()));
  }

  private Answer ends(Call call) {
    TaskChildren.Asked asked = call.callback(TaskChildren.Asked.class);
    LeaseHolder.Token holder =
        TaskRefusals.holder(call.token(), asked.attempt(), asked.attemptId());
    Lease lease = holder.scope().lease();
    refusals.mustHold("children/ends", lease);
    return Answer.ok(
        new TaskChildren.Ends(operations.children(holder, lease, asked.jobs()), clock.instant()));
  }

  /**
   * What is known of the task's steps. If an operator wants this one done again, it is dropped
   * before, and so is all after it: its worker need not know of that.
   */
  private List<StepStatus> steps(LeaseHolder.Token holder, Lease lease, String id) {
    List<StepStatus> steps = operations.steps(holder, lease);
    StepStatus before = find(steps, id).orElse(null);
    PendingCommand.Recovery asked = queries.pendingCommand(lease.job()).recovery();
    if (before == null || asked == null || !asked.stepId().equals(id)) {
      return steps;
    }
    if (operations
            .report(List.of(new Held<>(holder, lease, StepsApi.dropped(lease, before, asked))))
            .getFirst()
        == Ack.LEASE_LOST) {
      throw refusals.lost("step", lease);
    }
    return operations.steps(holder, lease);
  }

  private static Optional<StepStatus> find(List<StepStatus> steps, String id) {
    return steps.stream().filter(each -> each.id().equals(id)).findFirst();
  }

  /** Among the steps of the task. One too many is refused where it is written. */
  private static int index(List<StepStatus> steps, String id) {
    return find(steps, id)
        .map(StepStatus::index)
        .orElseGet(() -> steps.stream().mapToInt(StepStatus::index).max().orElse(0) + 1);
  }

  private static RefusedException taken(StepStatus known, String now) {
    return new RefusedException(
        Refusal.ID_REUSED,
        "'%s' was %s before, and is %s now: give it another id"
            .formatted(known.id(), known.what(), now));
  }
}
