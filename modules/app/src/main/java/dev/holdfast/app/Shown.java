package dev.holdfast.app;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.model.Artifact;
import dev.holdfast.model.Attempt;
import dev.holdfast.model.Failure;
import dev.holdfast.model.JobEvent;
import dev.holdfast.model.JobStatus;
import dev.holdfast.model.Json;
import dev.holdfast.model.PublishedArtifact;
import dev.holdfast.model.Schedule;
import dev.holdfast.queue.QueueStatus;
import dev.holdfast.queue.ScheduleStatus;
import dev.holdfast.queue.Statistics;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What programs get with --json: the words of the documentation, times as ISO text. */
final class Shown {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private Shown() {}

  static void print(Object value) {
    try {
      System.out.println(MAPPER.writeValueAsString(value));
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** One object a line, for what goes on and on. */
  static void printLine(ObjectNode value) {
    System.out.println(value);
  }

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static ObjectNode job(JobStatus job) {
    ObjectNode node =
        object()
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
    node.set("payload", tree(job.payload()));
    node.set("result", tree(job.result()));
    node.set("failure", failure(job.failure()));
    return node;
  }

  static ObjectNode artifact(PublishedArtifact published) {
    Artifact artifact = published.artifact();
    return object()
        .put("name", artifact.name())
        .put("size", artifact.size())
        .put("sha256", artifact.sha256())
        .put("attempt", published.attempt())
        .put("publishedAt", published.publishedAt().toString());
  }

  /** Short, for tables: 512 B, 3.4 kB, 1.2 GB. */
  static String bytes(long count) {
    if (count < 1_000) {
      return count + " B";
    }
    double value = count;
    int unit = -1;
    while (value >= 999.95 && unit < 4) {
      value /= 1_000;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %sB", value, "kMGTP".charAt(unit));
  }

  static ObjectNode event(JobEvent event) {
    ObjectNode node =
        object()
            .put("number", event.number())
            .put("type", event.type())
            .put("attempt", event.attempt())
            .put("at", event.at().toString());
    node.set("data", tree(event.data()));
    return node;
  }

  static ObjectNode attempt(Attempt attempt) {
    ObjectNode node =
        object()
            .put("attempt", attempt.number())
            .put("outcome", attempt.outcome().name())
            .put("worker", attempt.worker())
            .put("startedAt", attempt.startedAt().toString())
            .put("endedAt", text(attempt.endedAt()));
    node.set("failure", failure(attempt.failure()));
    return node;
  }

  static ObjectNode queue(QueueStatus queue) {
    return object()
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

  static ObjectNode schedule(ScheduleStatus status) {
    Schedule schedule = status.schedule();
    ObjectNode node =
        object()
            .put("name", schedule.name())
            .put("cron", schedule.cron().toString())
            .put("zone", schedule.zone().getId())
            .put("kind", schedule.job().kind())
            .put("queue", schedule.job().queue())
            .put("priority", schedule.job().priority())
            .put("missed", schedule.missed().name())
            .put("overlap", schedule.overlap())
            .put("nextAt", status.nextAt().toString())
            .put("lastAt", text(status.lastAt()))
            .put("pausedAt", text(status.pausedAt()));
    node.set("payload", tree((Json) schedule.job().payload()));
    return node;
  }

  static ObjectNode statistics(Statistics statistics) {
    ObjectNode node = object();
    ObjectNode states = node.putObject("byState");
    statistics.byState().forEach((state, jobs) -> states.put(state.name(), jobs));
    List<ObjectNode> rows =
        statistics.rows().stream()
            .map(
                row ->
                    object()
                        .put("queue", row.queue())
                        .put("kind", row.kind())
                        .put("state", row.state().name())
                        .put("jobs", row.jobs()))
            .toList();
    node.putArray("rows").addAll(rows);
    return node;
  }

  private static @Nullable ObjectNode failure(@Nullable Failure failure) {
    return failure == null
        ? null
        : object()
            .put("category", failure.category().name())
            .put("code", failure.code())
            .put("message", failure.message())
            .put("retryable", failure.retryable())
            .put("stackTrace", failure.stackTrace());
  }

  private static @Nullable JsonNode tree(@Nullable Json json) {
    try {
      return json == null ? null : MAPPER.readTree(json.text());
    } catch (JsonProcessingException corrupt) {
      throw new IllegalStateException("stored JSON is not readable", corrupt);
    }
  }

  private static @Nullable String text(@Nullable Object value) {
    return value == null ? null : value.toString();
  }
}
