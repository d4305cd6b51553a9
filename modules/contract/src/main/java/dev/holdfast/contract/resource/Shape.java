package dev.holdfast.contract.resource;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskControl;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.model.schedule.ScheduleStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The one form everything has as JSON, over HTTP as on the command line: the words of the
 * documentation, times as ISO text, null for what there is not.
 */
public final class Shape {
  private Shape() {}

  public static ObjectNode job(JobStatus job) {
    ObjectNode node =
        Wire.object()
            .put("id", job.id().toString())
            .put("kind", job.kind())
            .put("queue", job.queue())
            .put("state", job.state().name())
            .put("priority", job.priority())
            .put("attempt", job.attempt())
            .put("failures", job.failures())
            .put("maxAttempts", job.maxAttempts())
            .put("crashes", job.crashes())
            .put("maxCrashes", job.maxCrashes());
    node.put("progress", job.progress()).put("progressMessage", job.progressMessage());
    node.put("worker", job.worker());
    node.put("createdAt", text(job.createdAt())).put("runAt", text(job.runAt()));
    node.put("startedAt", text(job.startedAt())).put("heartbeatAt", text(job.heartbeatAt()));
    node.put("leaseExpiresAt", text(job.leaseExpiresAt()));
    node.put("finishedAt", text(job.finishedAt())).put("deadline", text(job.deadline()));
    node.put("cancelRequestedAt", text(job.cancelRequestedAt()));
    node.put("cancelReason", job.cancelReason());
    node.put("tenant", job.tenant()).put("workspace", job.workspace());
    node.put("run", job.run().toString()).put("runKey", job.runKey());
    node.put("parent", text(job.parent())).put("uniqueKey", job.uniqueKey());
    node.put("concurrencyKey", job.concurrencyKey());
    JobAttributes attributes = job.attributes();
    node.put("assetId", attributes.assetId()).put("partitionKey", attributes.partitionKey());
    node.put("traceparent", attributes.traceparent());
    node.set("resources", Wire.tree(attributes.resources()));
    List<String> omitted = job.omitted();
    if (!omitted.contains(JobStatus.PAYLOAD)) {
      node.set("payload", Wire.tree(job.payload()));
    }
    if (!omitted.contains(JobStatus.RESULT)) {
      node.set("result", Wire.tree(job.result()));
    }
    ObjectNode failure = failure(job.failure());
    if (failure != null && omitted.contains(JobStatus.STACK_TRACE)) {
      failure.remove("stackTrace");
    }
    node.set("failure", failure);
    if (!omitted.isEmpty()) {
      omitted.forEach(node.putArray("omitted")::add);
    }
    return node;
  }

  public static ObjectNode artifact(PublishedArtifact published) {
    Artifact artifact = published.artifact();
    return Wire.object()
        .put("name", artifact.name())
        .put("size", artifact.size())
        .put("sha256", artifact.sha256())
        .put("attempt", published.attempt())
        .put("publishedAt", published.publishedAt().toString());
  }

  public static ObjectNode step(StepStatus step) {
    ObjectNode node = listed(step);
    node.set("checkpoint", Wire.tree(step.checkpoint()));
    node.set("failure", Wire.tree(step.failure()));
    return node;
  }

  /** As one of many: without its checkpoint, and without how it failed. */
  public static ObjectNode listed(StepStatus step) {
    return Wire.object()
        .put("stepId", step.id())
        .put("stepIndex", step.index())
        .put("state", step.state().name())
        .put("attempt", step.attempt())
        .put("resets", step.resets())
        .put("patchBytes", step.patchBytes())
        .put("startedAt", step.startedAt().toString())
        .put("finishedAt", text(step.finishedAt()));
  }

  public static ObjectNode control(PendingCommand control) {
    TaskControl asked = TaskControl.of(control);
    TaskControl.Recovery recovery = asked.recovery();
    ObjectNode node = Wire.object().put("paused", asked.paused()).put("takeover", asked.takeover());
    PendingCommand.HeldBy heldBy = asked.heldBy();
    if (heldBy != null) {
      node.putObject("heldBy")
          .put("requestedBy", heldBy.requestedBy())
          .put("reason", heldBy.reason());
    }
    if (recovery == null) {
      return node.putNull("recovery");
    }
    node.putObject("recovery")
        .put("action", recovery.action())
        .put("stepId", recovery.stepId())
        .put("strategy", recovery.strategy())
        .put("requestedBy", recovery.requestedBy())
        .put("reason", recovery.reason())
        .put("updatedAt", recovery.updatedAt().toString());
    return node;
  }

  /**
   * @param drops steps that are done and will not be, once it is honoured
   */
  public static ObjectNode control(PendingCommand control, List<String> drops) {
    ObjectNode node = control(control);
    if (!drops.isEmpty()) {
      drops.forEach(node.putArray("drops")::add);
    }
    return node;
  }

  public static ObjectNode event(JobEvent event) {
    ObjectNode node =
        Wire.object()
            .put("number", event.number())
            .put("type", event.type())
            .put("attempt", event.attempt())
            .put("at", event.at().toString());
    node.set("data", Wire.tree(event.data()));
    return node;
  }

  public static ObjectNode log(LogTail tail) {
    ObjectNode node = Wire.object();
    for (LogTail.Part part : tail.parts()) {
      node.withArray("parts")
          .add(Wire.object().put("attempt", part.attempt()).put("text", part.text()));
    }
    node.withArray("parts");
    return node.put("next", tail.next().toString()).put("skipped", tail.skipped());
  }

  public static ObjectNode attempt(Attempt attempt) {
    ObjectNode node =
        Wire.object()
            .put("attempt", attempt.number())
            .put("outcome", attempt.outcome().name())
            .put("worker", attempt.worker())
            .put("startedAt", attempt.startedAt().toString())
            .put("endedAt", text(attempt.endedAt()));
    node.set("failure", failure(attempt.failure()));
    return node;
  }

  /** With what its worker told about its end, if it did. */
  public static ObjectNode attempt(Attempt attempt, @Nullable ReportedCompletion told) {
    ObjectNode node = attempt(attempt);
    if (told != null) {
      node.put("completedAt", text(told.completedAt()));
      node.put("receivedAt", told.receivedAt().toString());
      node.set("metrics", Wire.tree(told.metrics()));
      node.set("partialProgress", Wire.tree(told.partialProgress()));
      node.put("cancelledDuringPhase", told.cancelledDuringPhase());
    }
    return node;
  }

  public static ObjectNode enqueued(Enqueued enqueued) {
    return Wire.object().put("id", enqueued.id().toString()).put("duplicate", enqueued.duplicate());
  }

  public static ObjectNode cancellation(Cancellation cancellation) {
    return Wire.object()
        .put("id", cancellation.job().toString())
        .put("was", cancellation.was().name())
        .put("answer", cancellation.answer().name());
  }

  public static ObjectNode worker(WorkerView worker) {
    ObjectNode node =
        Wire.object()
            .put("component", worker.component())
            .put("supervisor", worker.supervisor())
            .put("worker", worker.worker())
            .put("status", worker.status().text())
            .put("paused", worker.paused())
            .put("stopped", worker.stopped())
            .put("pid", worker.pid())
            .put("currentJob", text(worker.currentJob()))
            .put("jobs", worker.jobs());
    worker.queues().forEach(node.putArray("queues")::add);
    node.put("restarts", worker.restarts())
        .put("lastRestart", text(worker.lastRestart()))
        .put("nextRestart", text(worker.nextRestart()));
    node.set("exit", worker.exitCode() == null ? null : exit(WorkerExit.of(worker.exitCode())));
    node.put("reason", worker.reason())
        .put("lastSeen", worker.lastSeen().toString())
        .put("lastHeartbeat", text(worker.lastHeartbeat()))
        .put("oldestStart", text(worker.oldestStart()));
    node.set("details", Wire.tree(worker.details()));
    return node;
  }

  public static ObjectNode exit(WorkerExit exit) {
    return Wire.object()
        .put("code", exit.code())
        .put("name", exit.name())
        .put("meaning", exit.meaning())
        .put("doNext", exit.doNext());
  }

  public static ObjectNode order(WorkerCommand order) {
    return Wire.object()
        .put("id", order.id())
        .put("supervisor", order.supervisor())
        .put("component", order.component())
        .put("action", order.action().text())
        .put("requestedBy", order.requestedBy())
        .put("reason", order.reason())
        .put("requestedAt", order.requestedAt().toString());
  }

  /** Its secret is nowhere to be shown from. */
  public static ObjectNode key(ApiKey key) {
    return Wire.object()
        .put("id", key.id())
        .put("name", key.name())
        .put("role", key.role().word())
        .put("tenant", key.tenant())
        .put("createdAt", key.createdAt().toString())
        .put("expiresAt", text(key.expiresAt()))
        .put("revokedAt", text(key.revokedAt()));
  }

  public static ObjectNode queue(QueueStatus queue) {
    return Wire.object()
        .put("name", queue.name())
        .put("due", queue.due())
        .put("delayed", queue.delayed())
        .put("retrying", queue.retrying())
        .put("waiting", queue.waiting())
        .put("running", queue.running())
        .put("maxRunning", queue.maxRunning())
        .put("rateLimit", queue.rateLimit())
        .put(
            "rateSpanMs",
            queue.rateSpan() == null ? null : Long.valueOf(queue.rateSpan().toMillis()))
        .put("pausedAt", text(queue.pausedAt()))
        .put("oldestMs", queue.oldest() == null ? null : Long.valueOf(queue.oldest().toMillis()));
  }

  public static ObjectNode schedule(ScheduleStatus status) {
    ObjectNode node =
        Wire.object()
            .put("name", status.name())
            .put("cron", status.cron())
            .put("zone", status.zone())
            .put("kind", status.kind())
            .put("queue", status.queue())
            .put("priority", status.priority())
            .put("missed", status.missed().name())
            .put("overlap", status.overlap())
            .put("nextAt", status.nextAt().toString())
            .put("lastAt", text(status.lastAt()))
            .put("pausedAt", text(status.pausedAt()))
            .put("broken", status.broken());
    node.set("payload", Wire.tree(status.payload()));
    return node;
  }

  public static ObjectNode statistics(Statistics statistics) {
    ObjectNode node = Wire.object();
    ObjectNode states = node.putObject("byState");
    statistics.byState().forEach((state, jobs) -> states.put(state.name(), jobs));
    List<ObjectNode> rows =
        statistics.rows().stream()
            .map(
                row ->
                    Wire.object()
                        .put("queue", row.queue())
                        .put("kind", row.kind())
                        .put("state", row.state().name())
                        .put("jobs", row.jobs()))
            .toList();
    node.putArray("rows").addAll(rows);
    return node;
  }

  public static @Nullable ObjectNode failure(@Nullable Failure failure) {
    return failure == null
        ? null
        : Wire.object()
            .put("category", failure.category().name())
            .put("code", failure.code())
            .put("message", failure.message())
            .put("retryable", failure.retryable())
            .put("stackTrace", failure.stackTrace());
  }

  private static @Nullable String text(@Nullable Object value) {
    return value == null ? null : value.toString();
  }
}
