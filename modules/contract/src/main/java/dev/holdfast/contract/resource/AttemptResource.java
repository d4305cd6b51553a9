package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.ReportedCompletion;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One attempt of a job. */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record AttemptResource(
    int attempt,
    AttemptOutcome outcome,
    String workerId,
    Instant startedAt,
    @Nullable Instant endedAt,
    @Nullable FailureResource failure) {
  public AttemptResource {
    Wire.present("outcome", outcome);
    Wire.present("workerId", workerId);
    Wire.present("startedAt", startedAt);
  }

  public static AttemptResource of(Attempt attempt) {
    return new AttemptResource(
        attempt.number(),
        attempt.outcome(),
        attempt.worker(),
        attempt.startedAt(),
        attempt.endedAt(),
        FailureResource.of(attempt.failure()));
  }

  public Attempt toAttempt() {
    return new Attempt(
        attempt, outcome, workerId, startedAt, endedAt, FailureResource.failure(failure));
  }

  /** All attempts of a job, in their order. */
  public record Attempts(List<AttemptResource> attempts) {
    public Attempts {
      attempts = List.copyOf(Wire.present("attempts", attempts));
    }
  }

  /** An attempt with what its worker reported at its end, if it reported anything. */
  public record Reported(
      @JsonUnwrapped AttemptResource own, @JsonUnwrapped @Nullable Completion reported) {
    public static Reported of(JobDetail.Reported each) {
      ReportedCompletion completion = each.completion();
      return new Reported(
          AttemptResource.of(each.attempt()),
          completion == null ? null : Completion.of(completion));
    }

    public JobDetail.Reported toReported() {
      return new JobDetail.Reported(
          own.toAttempt(),
          reported == null || reported.receivedAt() == null
              ? null
              : reported.completion(own.attempt()));
    }
  }

  /** What a worker reported at the end of an attempt. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Completion(
      @Nullable Instant completedAt,
      @Nullable Instant receivedAt,
      @Nullable JsonNode metrics,
      @Nullable JsonNode partialProgress,
      @Nullable String cancelledDuringPhase) {
    static Completion of(ReportedCompletion reported) {
      return new Completion(
          reported.completedAt(),
          reported.receivedAt(),
          Wire.tree(reported.metrics()),
          Wire.tree(reported.partialProgress()),
          reported.cancelledDuringPhase());
    }

    ReportedCompletion completion(int attempt) {
      return new ReportedCompletion(
          attempt,
          completedAt,
          Wire.present("receivedAt", receivedAt),
          Wire.json(metrics),
          Wire.json(partialProgress),
          cancelledDuringPhase);
    }
  }
}
