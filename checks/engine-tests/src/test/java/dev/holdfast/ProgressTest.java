package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ProgressTest extends LibraryTest {
  @Test
  void a_thousand_quick_reports_write_a_few_events_including_the_last() {
    JobId id = enqueue(Job.of("eager"));
    start(
        worker()
            .handle(
                "eager",
                Json.class,
                (payload, context) -> {
                  for (int i = 0; i <= 1_000; i++) {
                    context.progress(i / 10, "step " + i);
                  }
                  return null;
                }));
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(job.progress()).isEqualTo(100);
    assertThat(job.progressMessage()).isEqualTo("step 1000");
    List<JobEvent> progress =
        holdfast.queries().timeline(id).stream()
            .filter(event -> event.type().equals("progress"))
            .toList();
    assertThat(progress).hasSizeBetween(2, 102);
    assertThat(progress.getFirst().data().text()).contains("\"percent\": 0");
    assertThat(progress.getLast().data().text()).contains("\"percent\": 100");
  }

  @Test
  void the_progress_of_a_running_job_can_be_read() {
    CountDownLatch goOn = new CountDownLatch(1);
    JobId id = enqueue(Job.of("slow"));
    start(
        worker()
            .handle(
                "slow",
                Json.class,
                (payload, context) -> {
                  context.progress(10, "reading");
                  context.progress(42, "writing");
                  goOn.await();
                  return null;
                }));
    until(() -> Integer.valueOf(42).equals(job(id).progress()));
    assertThat(job(id).progressMessage()).isEqualTo("writing");
    goOn.countDown();
    await(id, JobState.SUCCEEDED);
  }

  @Test
  void a_new_attempt_begins_without_progress() {
    CountDownLatch goOn = new CountDownLatch(1);
    JobId id = enqueue(Job.of("flaky"));
    start(
        worker()
            .handle(
                "flaky",
                Json.class,
                AT_ONCE,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    context.progress(70, "almost");
                    throw new IllegalStateException("fell over");
                  }
                  goOn.await();
                  return null;
                }));
    until(() -> job(id).attempt() == 2);
    assertThat(job(id).progress()).isNull();
    assertThat(job(id).progressMessage()).isNull();
    goOn.countDown();
    await(id, JobState.SUCCEEDED);
  }

  @Test
  void a_percentage_out_of_range_fails_the_job_with_bad_progress() {
    JobId id = enqueue(Job.of("overdone").maxAttempts(1));
    worker()
        .handle(
            "overdone",
            Json.class,
            (payload, context) -> {
              context.progress(110);
              return null;
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(failure(id).message()).contains("BAD_PROGRESS");
  }
}
