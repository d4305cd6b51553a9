package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.Unique;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UniqueJobsTest extends Guide {
  record Report(String month) {}

  private void enqueueOrSay(Job job) {
    // region duplicate
    Enqueued enqueued = holdfast.enqueue(job);
    if (enqueued.duplicate()) {
      log.info("job {} stands for it already", enqueued.id());
    }
    // endregion
  }

  private static Job keyed() {
    // region key
    Job job = Job.of("report", new Report("2030-01")).uniqueKey("report:2030-01");
    // endregion
    return job;
  }

  @Test
  void a_second_job_with_the_key_is_not_created_while_the_first_is_unfinished() {
    Job first = keyed();
    Job second = keyed();
    assertThat(logged(() -> enqueueOrSay(first))).isEmpty();
    assertThat(logged(() -> enqueueOrSay(second)))
        .containsExactly("job " + first.id() + " stands for it already");
    assertThat(holdfast.find(second.id())).isEmpty();

    holdfast.worker("default").handle("report", Report.class, (report, context) -> null).drain();
    assertThat(state(first.id())).isEqualTo(JobState.SUCCEEDED);
    assertThat(logged(() -> enqueueOrSay(second))).isEmpty();
    assertThat(state(second.id())).isEqualTo(JobState.PENDING);
  }

  private static Job hourly() {
    // region window
    Set<JobState> unlessItFails =
        Set.of(JobState.PENDING, JobState.RUNNING, JobState.RETRYING, JobState.SUCCEEDED);
    Job job =
        Job.of("report", new Report("2030-01"))
            .unique(Unique.by("report:2030-01").in(unlessItFails).within(Duration.ofHours(1)));
    // endregion
    return job.owner("another", "default"); // the other tests use the same key
  }

  @Test
  void the_report_is_enqueued_once_an_hour_unless_it_fails() {
    Job fails = hourly();
    holdfast.enqueue(fails);
    holdfast
        .worker("default")
        .handle(
            "report",
            Report.class,
            (report, context) -> {
              throw FailedException.of(FailureCategory.DATA_QUALITY, "NO_DATA", "nothing sold");
            })
        .drain();
    assertThat(state(fails.id())).isEqualTo(JobState.FAILED);

    Job succeeds = hourly();
    assertThat(holdfast.enqueue(succeeds).duplicate()).isFalse();
    holdfast.worker("default").handle("report", Report.class, (report, context) -> null).drain();
    assertThat(state(succeeds.id())).isEqualTo(JobState.SUCCEEDED);
    assertThat(holdfast.enqueue(hourly())).isEqualTo(new Enqueued(succeeds.id(), true));
  }

  @Test
  void a_key_held_while_pending_is_free_from_the_start_of_its_job() {
    Unique waiting = Unique.by("waiting").in(Set.of(JobState.PENDING));
    Job first = Job.of("report").queue("pending").unique(waiting);
    holdfast.enqueue(first);
    assertThat(holdfast.enqueue(Job.of("report").queue("pending").unique(waiting)).duplicate())
        .isTrue();
    assertThat(claimed("pending")).containsExactly(first.id());
    assertThat(holdfast.enqueue(Job.of("report").queue("pending").unique(waiting)).duplicate())
        .isFalse();
  }
}
