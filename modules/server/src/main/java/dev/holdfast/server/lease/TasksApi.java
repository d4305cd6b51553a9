package dev.holdfast.server.lease;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskCommands;
import dev.holdfast.contract.task.TaskCompleted;
import dev.holdfast.contract.task.TaskHeartbeat;
import dev.holdfast.contract.task.TaskLog;
import dev.holdfast.contract.task.TaskStarted;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/**
 * The worker contract: started, heartbeat, log, completed. Each names an attempt, and takes effect
 * only while that attempt holds the task; sent twice, late or out of order, they do no harm.
 */
public final class TasksApi {
  private static final int LOG_BYTES = 256 << 10;

  private final JobQueue queue;
  private final HeartbeatBatcher beats;
  private final TaskTokens tokens;
  private final TokenLifetime lifetime;
  private final InstantSource clock;
  private final Fence fence;
  private Runnable ended = () -> {};

  public TasksApi(
      JobQueue queue,
      HeartbeatBatcher beats,
      TaskTokens tokens,
      ServerOptions options,
      InstantSource clock,
      Fence fence) {
    this.queue = queue;
    this.beats = beats;
    this.tokens = tokens;
    this.lifetime = options.tokens();
    this.clock = clock;
    this.fence = fence;
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
        Route.post("/v1/tasks/{taskId}/completed", Guard.TASK, this::completed));
  }

  private Answer started(Call call) throws InterruptedException {
    TaskStarted started = call.callback(TaskStarted.class);
    Lease lease = fence.guarded(call.token(), started.attempt(), started.attemptId());
    HeartbeatResult pulse = beats.start(lease);
    if (pulse.ack() == Ack.LEASE_LOST) {
      throw fence.lost("started", lease);
    }
    if (pulse.cancelRequested()) {
      // Nothing has been done yet, so there is nothing to wait for.
      queue.settle(new Settlement.Cancel(lease, null));
      throw Fence.terminal(JobState.CANCELLED, "the task was cancelled before its worker started");
    }
    return Answer.ok(new TaskStarted.Answer(true, now()));
  }

  private Answer heartbeat(Call call) {
    TaskHeartbeat heartbeat = call.callback(TaskHeartbeat.class);
    TaskTokens.Read token = call.token();
    Lease lease = fence.guarded(token, heartbeat.attempt(), heartbeat.attemptId());
    Report.Progress progress =
        heartbeat.progressPct() == null && heartbeat.message() == null
            ? null
            : new Report.Progress(
                lease, heartbeat.progressPct(), Scrubbed.text(heartbeat.message()));
    HeartbeatResult pulse = beats.beat(new HeartbeatBatcher.Beat(lease, progress));
    if (pulse.ack() == Ack.LEASE_LOST) {
      throw fence.lost("heartbeat", lease);
    }
    Instant now = now();
    TaskTokens.Signed fresh = lifetime.isWorn(token, now) ? tokens.sign(token.scope(), null) : null;
    return Answer.ok(
        new TaskHeartbeat.Answer(
            true,
            pulse.cancelRequested(),
            pulse.cancelReason(),
            now,
            fresh == null ? null : fresh.text(),
            fresh == null ? null : fresh.expiresAt(),
            TaskCommands.ifAsked(pulse.control())));
  }

  private Answer log(Call call) {
    TaskLog log = call.callback(TaskLog.class);
    Lease lease = fence.guarded(call.token(), log.attempt(), log.attemptId());
    LogLines lines = new LogLines(lease, log.firstLine(), log.lines(), Scrubbed::lines);
    if (queue.log(lines) == Ack.LEASE_LOST) {
      throw fence.lost("log", lease);
    }
    return Answer.ok(new TaskLog.Answer(true, now()));
  }

  private Answer completed(Call call) {
    TaskCompleted completed = call.callback(TaskCompleted.class);
    Lease lease = fence.guarded(call.token(), completed.attempt(), completed.attemptId());
    Completion.Verdict verdict = queue.complete(completion(lease, completed));
    return switch (verdict) {
      case Completion.Verdict.Accepted(var finalState) -> {
        ended.run();
        yield Answer.ok(new TaskCompleted.Answer(true, finalState, now()));
      }
      case Completion.Verdict.Different different -> throw fence.lost("completed", lease);
      case Completion.Verdict.Late tooLate -> throw fence.lost("completed", lease);
    };
  }

  private Completion completion(Lease lease, TaskCompleted completed) {
    // Of what was said, not of how it was written: another order of fields is the same completion.
    String digest = Secrets.digest(Wire.text(completed.withoutAttemptId()));
    return new Completion(
        settlement(lease, completed),
        completed.outcome().name(),
        digest,
        completed.workerId(),
        completed.completedAt(),
        completed.metrics(),
        completed.partialProgress(),
        completed.cancelledDuringPhase());
  }

  private Settlement settlement(Lease lease, TaskCompleted completed) {
    return switch (completed.outcome()) {
      case SUCCEEDED -> new Settlement.Succeed(lease, completed.output());
      case CANCELLED -> new Settlement.Cancel(lease, completed.partialProgress());
      case FAILED -> failed(lease, Wire.present("error", completed.error()));
    };
  }

  private Settlement failed(Lease lease, TaskCompleted.TaskError error) {
    Failure failure =
        Scrubbed.failure(
            Failure.of(
                    error.category(),
                    error.code() == null ? Failure.HANDLER_FAILED : error.code(),
                    error.message())
                .withStackTrace(error.stackTrace()));
    return new Settlement.Fail(
        lease,
        error.retryable() == null ? failure : failure.withRetryable(error.retryable()),
        error.retryAfterMs() == null ? null : Duration.ofMillis(error.retryAfterMs()));
  }

  private Instant now() {
    return clock.instant();
  }
}
