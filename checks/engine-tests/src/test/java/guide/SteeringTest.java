package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.JobRetention;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Reading, cancelling and retrying jobs. */
class SteeringTest extends Guide {
  @Test
  void jobs_are_read_cancelled_and_retried() throws InterruptedException {
    JobId id = enqueue(Job.of("fails").queue("mail"));
    // region steering
    JobStatus status = holdfast.find(id).orElseThrow(); // state, worker, lease, progress, failure
    List<JobEvent> events = holdfast.queries().timeline(id); // what happened, numbered
    // endregion
    assertThat(status.state()).isEqualTo(JobState.PENDING);
    assertThat(events).extracting(JobEvent::type).containsExactly("created");
    assertThat(events).extracting(JobEvent::number).containsExactly(1);
    // region steering
    List<Attempt> attempts = holdfast.queries().attempts(id);
    // endregion
    assertThat(attempts).isEmpty();
    // region steering
    holdfast.cancel(id, "no longer needed"); // empty if there is no such job
    // endregion
    assertThat(state(id)).isEqualTo(JobState.CANCELLED);
    assertThat(holdfast.cancel(id, "again").map(Cancellation::outcome))
        .hasValue(Cancellation.Outcome.ALREADY_TERMINAL);
    assertThat(holdfast.cancel(JobId.next(), "nobody")).isEqualTo(Optional.empty());

    holdfast.jobs().retry(List.of(id), Tenant.ANY);
    JobId child = enqueue(Job.of("child").queue("mail").parent(id));
    // region steering
    holdfast.jobs().cancel(List.of(id), true, "withdrawn", Tenant.ANY); // with its children
    // endregion
    assertThat(state(id)).isEqualTo(JobState.CANCELLED);
    assertThat(state(child)).isEqualTo(JobState.CANCELLED);
    // region steering
    holdfast.jobs().retry(List.of(id), Tenant.ANY); // FAILED and CANCELLED ones
    // endregion
    assertThat(state(id)).isEqualTo(JobState.PENDING);
    holdfast
        .worker("mail")
        .handle(
            "fails",
            Json.class,
            (payload, context) -> {
              throw FailedException.of(FailureCategory.CONFIGURATION, "NO_SERVER", "set it up");
            })
        .drain();
    assertThat(holdfast.queries().attempts(id))
        .extracting(Attempt::outcome)
        .containsExactly(AttemptOutcome.FAILED);
    JobId later = enqueue(Job.of("later").queue("mail").delay(Duration.ofHours(1)).tags("vip"));
    // region steering
    holdfast.edit(later, JobEdit.NOTHING.priority(0).delay(Duration.ZERO)); // unless it runs
    // endregion
    assertThat(status(later).priority()).isZero();
    // region steering
    List<JobStatus> tagged = holdfast.queries().list(JobFilter.ALL.tag("vip"));
    // endregion
    assertThat(tagged).extracting(JobStatus::id).containsExactly(later);
    // region steering
    holdfast.delete(later); // unless it runs, or others wait for it
    // endregion
    assertThat(holdfast.find(later)).isEmpty();
    // region steering
    Optional<JobStatus> end = holdfast.await(id, Duration.ofSeconds(10)); // empty: still at work
    JobFilter failed = JobFilter.ALL.states(Set.of(JobState.FAILED)).queue("mail").limit(100);
    List<JobStatus> found = holdfast.queries().list(failed);
    Statistics statistics = holdfast.queries().statistics(Tenant.ANY);
    // endregion
    assertThat(end).map(JobStatus::state).hasValue(JobState.FAILED);
    assertThat(found).extracting(JobStatus::id).containsExactly(id);
    assertThat(statistics.byState()).containsEntry(JobState.FAILED, 1L);
    assertThat(holdfast.store().maintenance().retain(JobState.SUCCEEDED, Duration.ofDays(7)))
        .isZero();
    assertThat(holdfast.store().maintenance().retain(JobState.FAILED, Duration.ZERO)).isEqualTo(1);
    assertThat(holdfast.find(id)).isEmpty();
  }

  @Test
  void old_jobs_are_deleted_if_a_retention_is_configured() {
    // region retention
    holdfast.retention(
        JobRetention.NONE
            .keep(JobState.SUCCEEDED, Duration.ofDays(7))
            .keep(JobState.FAILED, Duration.ofDays(90))); // CANCELLED ones are kept for ever
    Worker worker = holdfast.worker("mail").handle("send-mail", Mail.class, this::send).start();
    // endregion
    worker.close();
  }

  private @Nullable Object send(Mail mail, JobContext context) {
    return null;
  }
}
