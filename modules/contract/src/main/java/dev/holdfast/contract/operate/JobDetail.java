package dev.holdfast.contract.operate;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobDependencies;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A job with what was asked for besides; what was not asked for is empty.
 *
 * @param pending the commands that its worker has not executed yet
 * @param steps in their order, without their checkpoints
 */
public record JobDetail(
    JobStatus job,
    PendingCommand pending,
    List<JobEvent> events,
    List<Reported> attempts,
    List<StepStatus> steps,
    List<PublishedArtifact> artifacts,
    JobDependencies dependencies) {
  /** What can be asked for. */
  public enum Part {
    EVENTS,
    ATTEMPTS,
    STEPS,
    ARTIFACTS,
    DEPENDENCIES;

    /** As in a request. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** An attempt with what its worker reported at its end, if it reported anything. */
  public record Reported(
      // Not under its own name, which one of its fields has.
      @JsonProperty("own") @JsonUnwrapped Attempt attempt,
      @JsonUnwrapped @Nullable ReportedCompletion completion) {
    public Reported {
      // Without any, one is read that has nothing.
      completion = completion == null || completion.receivedAt() == null ? null : completion;
    }
  }

  public JobDetail {
    events = List.copyOf(events);
    attempts = List.copyOf(attempts);
    steps = List.copyOf(steps);
    artifacts = List.copyOf(artifacts);
  }
}
