package dev.holdfast.contract.json;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.ProcessExit;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.model.schedule.ScheduledRun;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
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
        .addMixIn(JobDependencies.class, OfDependencies.class)
        .addMixIn(JobHistory.class, OfHistory.class)
        .addMixIn(JobHistory.Tally.class, OfTally.class)
        .addMixIn(JobHistory.Point.class, OfPoint.class)
        .addMixIn(JobHistory.Depth.class, OfDepth.class)
        .addMixIn(JobHistory.OfKind.class, OfKind.class)
        .addMixIn(Pause.class, AllFields.class)
        .addMixIn(ProcessExit.class, OfProcessExit.class)
        .addMixIn(RateLimit.class, OfRate.class)
        .addMixIn(ScheduledRun.class, OfId.class)
        .addMixIn(Statistics.class, OfStatistics.class)
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

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfAttempt {
    @JsonProperty("attempt")
    int number();

    @JsonProperty(value = "workerId", required = true)
    String worker();
  }

  private interface OfCancellation {
    @JsonProperty(value = "id", required = true)
    JobId job();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  @JsonPropertyOrder({"category", "code", "message", "retryable", "cause", "stackTrace"})
  private interface OfFailure {
    @JsonProperty(required = true)
    String code();

    @JsonInclude(JsonInclude.Include.NON_NULL)
    Failure.@Nullable Cause cause();
  }

  private interface OfDependencies {
    @JsonIgnore
    boolean isEmpty();
  }

  @JsonInclude(JsonInclude.Include.ALWAYS)
  private interface OfHistory {
    @JsonProperty(value = "knownSince", required = true)
    Instant knownSince();

    @JsonProperty("stepMs")
    Duration step();
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

  private interface OfRate {
    @JsonProperty("periodMs")
    @JsonAlias("period_ms")
    Duration period();
  }

  @JsonPropertyOrder({"byState", "rows"})
  private interface OfStatistics {
    @JsonProperty(access = JsonProperty.Access.READ_ONLY)
    Map<JobState, Long> byState();
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
