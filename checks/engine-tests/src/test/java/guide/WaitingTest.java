package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.WhenDependencyFails;
import dev.holdfast.worker.Worker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Taking turns, and waiting for other jobs. */
class WaitingTest extends Guide {
  record Sync(String city) {}

  @Test
  void jobs_of_one_key_take_turns_and_block_no_other() {
    // region turns
    Job job = Job.of("sync", new Sync("berlin")).concurrencyKey("shop:berlin", 1);
    // endregion
    Job next = Job.of("sync", new Sync("berlin")).concurrencyKey("shop:berlin", 1);
    Job other = Job.of("sync", new Sync("paris")).concurrencyKey("shop:paris", 1);
    holdfast.enqueue(List.of(job, next, other));
    assertThat(claimed("default")).containsExactly(job.id(), other.id());
    assertThat(claimed("default")).isEmpty();
  }

  private List<JobId> enqueued(String day) {
    // region after
    Job extract = Job.of("extract", day);
    Job check = Job.of("check", day);
    Job load = Job.of("load", day).dependsOn(extract.id(), check.id());
    Job tidy = Job.of("tidy", day).dependsOn(List.of(load.id()), WhenDependencyFails.RUN);
    holdfast.enqueue(List.of(extract, check, load, tidy));
    // endregion
    return List.of(extract.id(), check.id(), load.id(), tidy.id());
  }

  private List<JobState> states(List<JobId> jobs) {
    return jobs.stream().map(this::state).toList();
  }

  @Test
  void a_job_waits_for_its_dependencies_and_its_policy_decides_when_they_fail() {
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    WorkerBuilder builder = holdfast.worker("default").concurrency(1);
    for (String kind : List.of("extract", "check", "load", "tidy")) {
      builder.handle(
          kind,
          String.class,
          (day, context) -> {
            order.add(day + " " + kind);
            if (day.equals("bad day") && kind.equals("check")) {
              throw FailedException.of(FailureCategory.DATA_QUALITY, "BAD", "a bad day");
            }
            return null;
          });
    }
    List<JobId> good = enqueued("good day");
    assertThat(states(good))
        .containsExactly(JobState.PENDING, JobState.PENDING, JobState.WAITING, JobState.WAITING);
    List<JobId> bad = enqueued("bad day");
    try (Worker worker = builder.start()) {
      await(good.getLast(), JobState.SUCCEEDED);
      await(bad.getLast(), JobState.SUCCEEDED);
      assertThat(worker.name()).startsWith("worker:default:0@");
    }
    assertThat(states(good)).containsOnly(JobState.SUCCEEDED);
    assertThat(states(bad))
        .containsExactly(
            JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.SUCCEEDED);
    assertThat(order)
        .containsSubsequence("good day extract", "good day load", "good day tidy")
        .containsSubsequence("good day check", "good day load")
        .contains("bad day tidy")
        .doesNotContain("bad day load");
  }
}
