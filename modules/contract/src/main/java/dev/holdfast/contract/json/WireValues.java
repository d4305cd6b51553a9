package dev.holdfast.contract.json;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.ForkedFrom;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.ProcessExit;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.schedule.ScheduledRun;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.OpenWait;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How records of the model look as JSON, where a field has another name there, is left out, or is
 * written even if it is null. What proves that a server has answered is required.
 */
@SuppressWarnings("UnusedMethod") // Jackson reads their annotations.
final class WireValues {
  private WireValues() {}

  static void mixInto(JsonMapper.Builder builder) {
    builder
        .addMixIn(ApiKey.class, OfId.class)
        .addMixIn(Attempt.class, OfAttempt.class)
        .addMixIn(Cancellation.class, OfCancellation.class)
        .addMixIn(Enqueued.class, OfId.class)
        .addMixIn(Failure.class, OfFailure.class)
        .addMixIn(JobAttributes.class, OfAttributes.class)
        .addMixIn(JobEvent.class, OfEvent.class)
        .addMixIn(JobHistory.class, OfHistory.class)
        .addMixIn(JobHistory.Tally.class, OfTally.class)
        .addMixIn(JobHistory.Point.class, OfPoint.class)
        .addMixIn(JobHistory.Depth.class, OfDepth.class)
        .addMixIn(JobHistory.OfKind.class, OfKind.class)
        .addMixIn(JobPage.class, OfPage.class)
        .addMixIn(JobStatus.class, OfJob.class)
        .addMixIn(JobStatus.Cancel.class, OfCancel.class)
        .addMixIn(JobStatus.Execution.class, OfExecution.class)
        .addMixIn(JobStatus.Relations.class, OfRelations.class)
        .addMixIn(JobStatus.Times.class, AllFields.class)
        .addMixIn(Pause.class, AllFields.class)
        .addMixIn(PendingCommand.class, OfPendingCommand.class)
        .addMixIn(PendingCommand.Recovery.class, OfRecovery.class)
        .addMixIn(ProcessExit.class, OfProcessExit.class)
        .addMixIn(PublishedArtifact.class, OfArtifact.class)
        .addMixIn(QueueStatus.class, OfQueue.class)
        .addMixIn(RateLimit.class, OfRate.class)
        .addMixIn(ReportedCompletion.class, OfCompletion.class)
        .addMixIn(ScheduleStatus.class, OfSchedule.class)
        .addMixIn(ScheduledRun.class, OfId.class)
        .addMixIn(Statistics.class, OfStatistics.class)
        .addMixIn(StepStatus.class, OfStep.class)
        .addMixIn(WorkerCommand.class, OfCommand.class)
        .addMixIn(WorkerView.class, OfWorker.class);
  }

  /** What is null is written, too. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface AllFields {}

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfId {
    @JsonProperty(required = true)
    Object id();
  }

  private interface OfArtifact {
    @JsonUnwrapped
    Artifact artifact();

    @JsonProperty(required = true)
    Instant publishedAt();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfAttempt {
    @JsonProperty("attempt")
    int number();

    @JsonProperty(value = "workerId", required = true)
    String worker();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  @JsonPropertyOrder({"assetId", "partitionKey", "traceparent", "tags", "resources"})
  private interface OfAttributes {
    @JsonSerialize(using = WireTypes.StoredJson.class)
    Json resources();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfCancel {
    @JsonProperty("cancelRequestedAt")
    @Nullable Instant requestedAt();

    @JsonProperty("cancelReason")
    @Nullable String reason();
  }

  private interface OfCancellation {
    @JsonProperty(value = "id", required = true)
    JobId job();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfExecution {
    @JsonProperty("workerId")
    @Nullable String worker();

    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Nullable Integer version();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  @JsonPropertyOrder({"category", "code", "message", "retryable", "cause", "stackTrace"})
  private interface OfFailure {
    @JsonProperty(required = true)
    String code();

    @JsonInclude(JsonInclude.Include.NON_NULL)
    Failure.@Nullable Cause cause();
  }

  /** Beside its attempt, whose number it has. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfCompletion {
    @JsonProperty(access = JsonProperty.Access.WRITE_ONLY)
    int attempt();

    @JsonSerialize(using = WireTypes.StoredJson.class)
    @Nullable Json metrics();

    @JsonSerialize(using = WireTypes.StoredJson.class)
    @Nullable Json partialProgress();
  }

  private interface OfEvent {
    @JsonProperty(required = true)
    String type();

    @JsonSerialize(using = WireTypes.StoredJson.class)
    Json data();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfHistory {
    @JsonProperty(value = "knownSince", required = true)
    Instant knownSince();

    @JsonProperty("stepMs")
    Duration step();
  }

  /** Its groups are for people who write code; on the wire it is one object. */
  private interface OfJob {
    @JsonProperty(required = true)
    JobId id();

    @JsonUnwrapped
    JobStatus.Execution execution();

    @JsonUnwrapped
    JobStatus.Times times();

    @JsonUnwrapped
    JobStatus.Cancel cancel();

    @JsonUnwrapped
    JobStatus.Relations relations();

    @JsonInclude(JsonInclude.Include.NON_NULL)
    OpenWait waitsFor();

    @JsonUnwrapped
    JobAttributes attributes();

    @JsonUnwrapped
    @JsonSerialize(using = WireTypes.ContentWriter.class)
    JobStatus.Content content();
  }

  private interface OfPage {
    @JsonProperty(required = true)
    List<JobStatus> jobs();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfRelations {
    @JsonProperty("runId")
    JobId run();

    @JsonProperty("parentId")
    @Nullable JobId parent();

    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Nullable ForkedFrom forkedFrom();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfTally {
    @JsonProperty("waitMs")
    JobHistory.@Nullable Percentiles waitTime();

    @JsonProperty("runMs")
    JobHistory.@Nullable Percentiles runTime();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfPoint {
    @JsonProperty("jobs")
    JobHistory.@Nullable Tally tally();
  }

  private interface OfDepth {
    @JsonProperty("oldestDueMs")
    Duration oldest();
  }

  private interface OfKind {
    @JsonProperty("jobs")
    JobHistory.Tally tally();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  @JsonPropertyOrder({"paused", "takeover", "heldBy"})
  private interface OfPendingCommand {
    @JsonInclude(JsonInclude.Include.NON_NULL)
    PendingCommand.@Nullable HeldBy heldBy();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  @JsonPropertyOrder({"action", "stepId", "strategy"})
  private interface OfRecovery {
    @JsonProperty(required = true)
    CommandAction action();

    @JsonProperty(access = JsonProperty.Access.READ_ONLY)
    @Nullable String strategy();
  }

  /** What the rules alone use is not shown. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  @JsonIgnoreProperties({"oldestFree", "push"})
  private interface OfQueue {
    @JsonProperty(required = true)
    String name();

    @JsonProperty("oldestDueAgeMs")
    @Nullable Duration oldest();
  }

  private interface OfRate {
    @JsonProperty("periodMs")
    @JsonAlias("period_ms")
    Duration period();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfSchedule {
    @JsonProperty(required = true)
    String name();

    @JsonProperty("timeoutMs")
    @Nullable Duration timeout();

    @JsonSerialize(using = WireTypes.StoredJson.class)
    @Nullable Json payload();

    @JsonProperty(access = JsonProperty.Access.READ_ONLY)
    List<Instant> upcoming();
  }

  @JsonPropertyOrder({"byState", "rows"})
  private interface OfStatistics {
    @JsonProperty(access = JsonProperty.Access.READ_ONLY)
    Map<JobState, Long> byState();
  }

  /** What it left and how it failed are long, and not read for a list. */
  @JsonPropertyOrder({
    "stepId",
    "stepIndex",
    "state",
    "attempt",
    "resets",
    "patchBytes",
    "startedAt",
    "finishedAt"
  })
  private interface OfStep {
    @JsonProperty(value = "stepId", required = true)
    String id();

    @JsonProperty("stepIndex")
    int index();

    @JsonInclude(JsonInclude.Include.ALWAYS)
    @Nullable Integer patchBytes();

    @JsonInclude(JsonInclude.Include.ALWAYS)
    @Nullable Instant finishedAt();

    @JsonSerialize(using = WireTypes.StoredJson.class)
    @JsonDeserialize(using = JsonOrAbsent.class)
    @Nullable Json checkpoint();

    @JsonSerialize(using = WireTypes.StoredJson.class)
    @Nullable Json failure();
  }

  private interface OfCommand {
    @JsonProperty(required = true)
    String component();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfProcessExit {
    @JsonProperty(required = true)
    String supervisor();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfWorker {
    @JsonProperty(required = true)
    String component();

    @JsonSerialize(using = WireTypes.StoredJson.class)
    @Nullable Json details();
  }
}
