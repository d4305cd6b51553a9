package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.ReportedCompletion;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An attempt with what its worker reported at its end, if it reported anything. */
public record AttemptResource(
    @JsonUnwrapped Attempt own, @JsonUnwrapped @Nullable Completion reported) {
  public static AttemptResource of(JobDetail.Reported each) {
    ReportedCompletion completion = each.completion();
    return new AttemptResource(
        each.attempt(), completion == null ? null : Completion.of(completion));
  }

  public JobDetail.Reported toReported() {
    return new JobDetail.Reported(
        own,
        reported == null || reported.receivedAt() == null
            ? null
            : reported.completion(own.number()));
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
