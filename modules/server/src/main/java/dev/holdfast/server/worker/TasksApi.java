package dev.holdfast.server.worker;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskCommands;
import dev.holdfast.contract.task.TaskCompleted;
import dev.holdfast.contract.task.TaskEvent;
import dev.holdfast.contract.task.TaskHeartbeat;
import dev.holdfast.contract.task.TaskLog;
import dev.holdfast.contract.task.TaskStarted;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import dev.holdfast.server.worker.FencedOperations.Held;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The callbacks of the worker contract: started, heartbeat, log, event, completed. Each names an
 * attempt, and takes effect only while that attempt holds the task; sent twice, late or out of
 * order, they do no harm. An event that is sent twice is in the timeline twice.
 */
public final class TasksApi {
  private static final int LOG_BYTES = 256 << 10;

  /** The data of an event may have 64 KiB, and more where characters are escaped. */
  private static final int EVENT_BYTES = 256 << 10;

  private final FencedOperations operations;
  private final TaskTokens tokens;
  private final TokenLifetime lifetime;
  private final InstantSource clock;
  private final TaskRefusals refusals;
  private Runnable ended = () -> {};

  public TasksApi(
      FencedOperations operations,
      TaskTokens tokens,
      ServerOptions options,
      InstantSource clock,
      TaskRefusals refusals) {
    this.operations = operations;
    this.tokens = tokens;
    this.lifetime = options.tokens();
    this.clock = clock;
    this.refusals = refusals;
  }

  public TasksApi whenEnded(Runnable action) {
    this.ended = action;
    return this;
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/tasks/{taskId}/started", Guard.TASK, this::started).maxBody(Route.SMALL),
        Route.post("/v1/tasks/{taskId}/heartbeat", Guard.TASK, this::heartbeat)
            .maxBody(Route.SMALL),
        Route.post("/v1/tasks/{taskId}/log", Guard.TASK, this::log).maxBody(LOG_BYTES),
        Route.post("/v1/tasks/{taskId}/event", Guard.TASK, this::event).maxBody(EVENT_BYTES),
        Route.post("/v1/tasks/{taskId}/completed", Guard.TASK, this::completed));
  }

  private Answer started(Call call) throws InterruptedException {
    TaskStarted started = call.callback(TaskStarted.class);
    LeaseHolder.Token holder =
        TaskRefusals.holder(call.token(), started.attempt(), started.attemptId());
    Lease lease = holder.scope().lease();
    HeartbeatResult result = operations.start(holder, started.workerId());
    if (result.ack() == Ack.LEASE_LOST) {
      throw refusals.lost("started", lease);
    }
    if (result.cancelRequested() && result.first()) {
      // The worker has not begun, so it needs no time to stop. One that has begun, and repeats the
      // call because the response was lost, learns of the cancel with its next heartbeat.
      Settlement cancel = new Settlement.Cancel(lease, null);
      operations.settle(List.of(new Held<>(holder, lease, cancel)));
      throw TaskRefusals.terminal(
          JobState.CANCELLED, "the task was cancelled before its worker started");
    }
    Instant now = now();
    TaskTokens.Signed fresh = fresh(call.token(), now);
    return Answer.ok(
        new TaskStarted.Answer(
            true,
            now,
            fresh == null ? null : fresh.text(),
            fresh == null ? null : fresh.expiresAt()));
  }

  private Answer heartbeat(Call call) {
    TaskHeartbeat heartbeat = call.callback(TaskHeartbeat.class);
    TaskTokens.Read token = call.token();
    LeaseHolder.Token holder =
        TaskRefusals.holder(token, heartbeat.attempt(), heartbeat.attemptId());
    Lease lease = holder.scope().lease();
    Report.Progress progress =
        heartbeat.progressPct() == null && heartbeat.message() == null
            ? null
            : new Report.Progress(lease, heartbeat.progressPct(), heartbeat.message());
    HeartbeatResult result = operations.extend(holder, progress);
    if (result.ack() == Ack.LEASE_LOST) {
      throw refusals.lost("heartbeat", lease);
    }
    Instant now = now();
    TaskTokens.Signed fresh = fresh(token, now);
    return Answer.ok(
        new TaskHeartbeat.Answer(
            true,
            result.cancelRequested(),
            result.cancelReason(),
            now,
            fresh == null ? null : fresh.text(),
            fresh == null ? null : fresh.expiresAt(),
            TaskCommands.ifAsked(result.pendingCommand())));
  }

  private TaskTokens.@Nullable Signed fresh(TaskTokens.Read token, Instant now) {
    return lifetime.needsRenewal(token, now) ? tokens.sign(token.scope(), null) : null;
  }

  private Answer log(Call call) {
    TaskLog log = call.callback(TaskLog.class);
    LeaseHolder.Token holder = TaskRefusals.holder(call.token(), log.attempt(), log.attemptId());
    Lease lease = holder.scope().lease();
    LogLines lines = new LogLines(lease, log.firstLine(), log.lines(), Scrubbed::lines);
    if (operations.log(new Held<>(holder, lease, lines)) == Ack.LEASE_LOST) {
      throw refusals.lost("log", lease);
    }
    return Answer.ok(new TaskLog.Answer(true, now()));
  }

  private Answer event(Call call) {
    TaskEvent event = call.callback(TaskEvent.class);
    LeaseHolder.Token holder =
        TaskRefusals.holder(call.token(), event.attempt(), event.attemptId());
    Lease lease = holder.scope().lease();
    Json data = event.data() == null ? Json.EMPTY : event.data();
    Report report = new Report.Event(lease, event.type(), data);
    if (operations.report(List.of(new Held<>(holder, lease, report))).getFirst()
        == Ack.LEASE_LOST) {
      throw refusals.lost("event", lease);
    }
    return Answer.ok(new TaskEvent.Answer(true, now()));
  }

  private Answer completed(Call call) {
    TaskCompleted completed = call.callback(TaskCompleted.class);
    LeaseHolder.Token holder =
        TaskRefusals.holder(call.token(), completed.attempt(), completed.attemptId());
    Lease lease = holder.scope().lease();
    Completion completion = completion(lease, completed);
    FencedOperations.Ended end =
        operations.end(List.of(new Held<>(holder, lease, completion))).getFirst();
    if (end.ack() == Ack.LEASE_LOST) {
      throw refusals.lost("completed", lease);
    }
    ended.run();
    JobState state = end.finalState() == null ? operations.stateAfter(lease) : end.finalState();
    return Answer.ok(new TaskCompleted.Answer(true, state, now()));
  }

  private Completion completion(Lease lease, TaskCompleted completed) {
    Settlement settlement = settlement(lease, completed);
    return new Completion(
        settlement,
        completed.outcome().name(),
        CompletionDigest.of(settlement),
        completed.workerId(),
        completed.completedAt(),
        completed.metrics(),
        completed.partialProgress(),
        completed.cancelledDuringPhase());
  }

  private Settlement settlement(Lease lease, TaskCompleted completed) {
    return switch (completed.outcome()) {
      case SUCCEEDED -> new Settlement.Succeed(lease, completed.output());
      case CONTINUED ->
          new Settlement.Continue(lease, Wire.present("payload", completed.payload()));
      case CANCELLED -> new Settlement.Cancel(lease, completed.partialProgress());
      case FAILED -> failed(lease, Wire.present("error", completed.error()));
      case SNOOZED ->
          new Settlement.Snooze(
              lease, Duration.ofMillis(Wire.present("delayMs", completed.delayMs())));
      case RELEASED -> new Settlement.Release(lease, true);
    };
  }

  private Settlement failed(Lease lease, TaskCompleted.TaskError error) {
    return new Settlement.Fail(
        lease,
        error.failure(),
        error.retryAfterMs() == null ? null : Duration.ofMillis(error.retryAfterMs()));
  }

  private Instant now() {
    return clock.instant();
  }
}
