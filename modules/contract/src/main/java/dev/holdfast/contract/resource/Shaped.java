package dev.holdfast.contract.resource;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.schedule.WhenMissed;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads what {@link Shape} writes. */
public final class Shaped {
  private Shaped() {}

  public static <T> List<T> list(JsonNode array, Function<JsonNode, T> read) {
    List<T> values = new ArrayList<>();
    array.forEach(each -> values.add(read.apply(each)));
    return values;
  }

  public static JobStatus job(JsonNode node) {
    return new JobStatus(
        id(node, "id"),
        text(node, "kind"),
        text(node, "queue"),
        JobState.valueOf(text(node, "state")),
        node.path("priority").asInt(),
        new Json(node.has("payload") ? node.get("payload").toString() : "null"),
        json(node, "result"),
        failure(node.path("failure")),
        node.path("attempt").asInt(),
        node.path("failures").asInt(),
        node.path("maxAttempts").asInt(),
        node.path("crashes").asInt(),
        node.path("maxCrashes").asInt(),
        wholeOrNull(node, "progress"),
        textOrNull(node, "progressMessage"),
        textOrNull(node, "worker"),
        instantOrNull(node, "heartbeatAt"),
        instantOrNull(node, "leaseExpiresAt"),
        instant(node, "createdAt"),
        instant(node, "runAt"),
        instantOrNull(node, "startedAt"),
        instantOrNull(node, "finishedAt"),
        instantOrNull(node, "cancelRequestedAt"),
        textOrNull(node, "cancelReason"),
        instantOrNull(node, "deadline"),
        text(node, "tenant"),
        text(node, "workspace"),
        id(node, "run"),
        text(node, "runKey"),
        is(node, "parent") ? id(node, "parent") : null,
        textOrNull(node, "uniqueKey"),
        textOrNull(node, "concurrencyKey"),
        attributes(node),
        list(node.path("omitted"), JsonNode::asText));
  }

  private static JobAttributes attributes(JsonNode node) {
    Json resources = json(node, "resources");
    return new JobAttributes(
        textOrNull(node, "assetId"),
        textOrNull(node, "partitionKey"),
        resources == null ? Json.EMPTY : resources,
        textOrNull(node, "traceparent"));
  }

  public static Enqueued enqueued(JsonNode node) {
    return new Enqueued(id(node, "id"), node.path("duplicate").asBoolean());
  }

  public static Cancellation cancellation(JsonNode node) {
    return new Cancellation(
        id(node, "id"),
        JobState.valueOf(text(node, "was")),
        Cancellation.Answer.valueOf(text(node, "answer")));
  }

  public static JobEvent event(JobId job, JsonNode node) {
    return new JobEvent(
        job,
        node.path("number").asInt(),
        text(node, "type"),
        node.path("attempt").asInt(),
        instant(node, "at"),
        new Json(node.path("data").toString()));
  }

  public static LogTail log(JsonNode node) {
    return new LogTail(
        list(
            node.path("parts"),
            part -> new LogTail.Part(part.path("attempt").asInt(), text(part, "text"))),
        LogCursor.parse(text(node, "next")),
        node.path("skipped").asBoolean());
  }

  public static Attempt attempt(JsonNode node) {
    return new Attempt(
        node.path("attempt").asInt(),
        AttemptOutcome.valueOf(text(node, "outcome")),
        text(node, "worker"),
        instant(node, "startedAt"),
        instantOrNull(node, "endedAt"),
        failure(node.path("failure")));
  }

  /** Where it lies is the server's business. */
  public static PublishedArtifact artifact(JsonNode node) {
    return new PublishedArtifact(
        new Artifact(text(node, "name"), node.path("size").asLong(), text(node, "sha256")),
        node.path("attempt").asInt(),
        "",
        instant(node, "publishedAt"),
        null);
  }

  public static StepStatus step(JsonNode node) {
    return new StepStatus(
        text(node, "stepId"),
        node.path("stepIndex").asInt(),
        StepState.valueOf(text(node, "state")),
        node.path("attempt").asInt(),
        node.path("resets").asInt(),
        json(node, "checkpoint"),
        wholeOrNull(node, "patchBytes"),
        instant(node, "startedAt"),
        instantOrNull(node, "finishedAt"),
        json(node, "failure"));
  }

  /** Nothing is asked of a job that has none. */
  public static PendingCommand control(JsonNode node) {
    JsonNode recovery = node.path("recovery");
    JsonNode heldBy = node.path("heldBy");
    return new PendingCommand(
        node.path("paused").asBoolean(),
        node.path("takeover").asBoolean(),
        recovery.isObject()
            ? new PendingCommand.Recovery(
                CommandAction.of(text(recovery, "action")),
                text(recovery, "stepId"),
                text(recovery, "requestedBy"),
                text(recovery, "reason"),
                instant(recovery, "updatedAt"))
            : null,
        heldBy.isObject()
            ? new PendingCommand.HeldBy(text(heldBy, "requestedBy"), text(heldBy, "reason"))
            : null);
  }

  public static QueueStatus queue(JsonNode node) {
    return new QueueStatus(
        text(node, "name"),
        node.path("due").asLong(),
        node.path("delayed").asLong(),
        node.path("retrying").asLong(),
        node.path("waiting").asLong(),
        node.path("running").asLong(),
        wholeOrNull(node, "maxRunning"),
        wholeOrNull(node, "rateLimit"),
        millisOrNull(node, "rateSpanMs"),
        instantOrNull(node, "pausedAt"),
        millisOrNull(node, "oldestMs"),
        null,
        false,
        null);
  }

  public static ScheduleStatus schedule(JsonNode node) {
    return new ScheduleStatus(
        text(node, "name"),
        text(node, "cron"),
        text(node, "zone"),
        text(node, "kind"),
        text(node, "queue"),
        node.path("priority").asInt(),
        WhenMissed.valueOf(text(node, "missed")),
        node.path("overlap").asBoolean(),
        new Json(node.path("payload").toString()),
        instant(node, "nextAt"),
        instantOrNull(node, "lastAt"),
        instantOrNull(node, "pausedAt"),
        textOrNull(node, "broken"));
  }

  public static Statistics statistics(JsonNode node) {
    return new Statistics(
        list(
            node.path("rows"),
            row ->
                new Statistics.Row(
                    text(row, "queue"),
                    text(row, "kind"),
                    JobState.valueOf(text(row, "state")),
                    row.path("jobs").asLong())));
  }

  public static ApiKey key(JsonNode node) {
    return new ApiKey(
        text(node, "id"),
        text(node, "name"),
        Role.of(text(node, "role")),
        text(node, "tenant"),
        instant(node, "createdAt"),
        instantOrNull(node, "expiresAt"),
        instantOrNull(node, "revokedAt"));
  }

  public static WorkerView worker(JsonNode node) {
    return new WorkerView(
        text(node, "component"),
        textOrNull(node, "supervisor"),
        textOrNull(node, "worker"),
        HealthStatus.of(text(node, "status")),
        node.path("paused").asBoolean(),
        node.path("stopped").asBoolean(),
        is(node, "pid") ? Long.valueOf(node.get("pid").asLong()) : null,
        is(node, "currentJob") ? id(node, "currentJob") : null,
        node.path("jobs").asLong(),
        list(node.path("queues"), JsonNode::asText),
        node.path("restarts").asInt(),
        instantOrNull(node, "lastRestart"),
        instantOrNull(node, "nextRestart"),
        wholeOrNull(node.path("exit"), "code"),
        textOrNull(node, "reason"),
        instant(node, "lastSeen"),
        instantOrNull(node, "lastHeartbeat"),
        instantOrNull(node, "oldestStart"),
        json(node, "details"));
  }

  public static WorkerCommand order(JsonNode node) {
    return new WorkerCommand(
        node.path("id").asLong(),
        text(node, "supervisor"),
        text(node, "component"),
        WorkerCommand.Action.of(text(node, "action")),
        text(node, "requestedBy"),
        text(node, "reason"),
        instant(node, "requestedAt"));
  }

  private static @Nullable Failure failure(JsonNode node) {
    return node.isObject()
        ? new Failure(
            FailureCategory.valueOf(text(node, "category")),
            text(node, "code"),
            text(node, "message"),
            textOrNull(node, "stackTrace"),
            node.path("retryable").asBoolean())
        : null;
  }

  private static boolean is(JsonNode node, String field) {
    return node.hasNonNull(field);
  }

  public static String text(JsonNode node, String field) {
    return Wire.present(field, textOrNull(node, field));
  }

  private static @Nullable String textOrNull(JsonNode node, String field) {
    return is(node, field) ? node.get(field).asText() : null;
  }

  static JobId id(JsonNode node, String field) {
    return JobId.parse(text(node, field));
  }

  private static @Nullable Json json(JsonNode node, String field) {
    return is(node, field) ? new Json(node.get(field).toString()) : null;
  }

  private static Instant instant(JsonNode node, String field) {
    return Instant.parse(text(node, field));
  }

  public static @Nullable Instant instantOrNull(JsonNode node, String field) {
    return is(node, field) ? instant(node, field) : null;
  }

  private static @Nullable Integer wholeOrNull(JsonNode node, String field) {
    return is(node, field) ? Integer.valueOf(node.get(field).asInt()) : null;
  }

  private static @Nullable Duration millisOrNull(JsonNode node, String field) {
    return is(node, field) ? Duration.ofMillis(node.get(field).asLong()) : null;
  }
}
