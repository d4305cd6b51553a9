package dev.holdfast.model.attempt;

import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The end of an attempt as a worker reports it over HTTP.
 *
 * @param digest of what the report says of the job, to recognise one that is sent twice
 * @param completedAt by the worker's clock; only stored
 */
public record Completion(
    Settlement settlement,
    String outcome,
    String digest,
    String worker,
    @Nullable Instant completedAt,
    @Nullable Json metrics,
    @Nullable Json partialProgress,
    @Nullable String cancelledDuringPhase) {
  public Completion {
    if (metrics != null) {
      Limits.eventData(metrics);
    }
    if (partialProgress != null) {
      Limits.eventData(partialProgress);
    }
  }

  public Lease lease() {
    return settlement.lease();
  }

  /** What became of it. */
  public sealed interface Verdict {
    /** It counts, by this call or an equal one before. */
    record Accepted(JobState finalState) implements Verdict {}

    /** The attempt was completed before, and otherwise. */
    record Different() implements Verdict {}

    /** The attempt does not hold the job. */
    record Late() implements Verdict {}
  }
}
