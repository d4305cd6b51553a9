package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.Handler;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class TimeLimitTest extends LibraryTest {
  private final CountDownLatch never = new CountDownLatch(1);

  /** The first attempt hangs, the next ones do not. */
  private final Handler<Json> hangsOnce =
      (payload, context) -> {
        if (context.lease().attempt() == 1) {
          never.await();
        }
        return "done";
      };

  @Test
  void an_attempt_past_its_timeout_is_stopped_and_retried() {
    JobId id = enqueue(Job.of("hanging").timeout(Duration.ofMillis(200)));
    start(worker().handle("hanging", Json.class, AT_ONCE, hangsOnce));
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(job.attempt()).isEqualTo(2);
    assertThat(job.failures()).isEqualTo(1);
    Failure failure = holdfast.queries().attempts(id).getFirst().failure();
    assertThat(failure).isNotNull();
    if (failure != null) {
      assertThat(failure.category()).isEqualTo(FailureCategory.TIMEOUT);
      assertThat(failure.code()).isEqualTo(Failure.ATTEMPT_TIMEOUT);
      assertThat(failure.message()).contains("200 ms");
    }
  }

  @Test
  void timeouts_use_budget() {
    JobId id = enqueue(Job.of("hanging").timeout(Duration.ofMillis(50)).maxAttempts(2));
    worker()
        .handle(
            "hanging",
            Json.class,
            AT_ONCE,
            (payload, context) -> {
              never.await();
              return null;
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(failure(id).message()).contains(Failure.ATTEMPT_TIMEOUT);
  }

  @Test
  void a_handler_that_ignores_its_timeout_is_abandoned() {
    CountDownLatch goOn = new CountDownLatch(1);
    JobId id = enqueue(Job.of("deaf").timeout(Duration.ofMillis(100)));
    start(
        worker()
            .concurrency(1)
            .timings(CALM.withCancelGrace(Duration.ofMillis(200)))
            .handle(
                "deaf",
                Json.class,
                AT_ONCE,
                (payload, context) -> {
                  ignoreInterruptsWhile(
                      () -> context.lease().attempt() == 1 && goOn.getCount() > 0);
                  return "done";
                }));
    assertThat(await(id, JobState.SUCCEEDED).attempt()).isEqualTo(2);
    assertThat(attempts(id)).containsExactly(AttemptOutcome.FAILED, AttemptOutcome.SUCCEEDED);
    goOn.countDown();
  }

  @Test
  void an_attempt_within_its_timeout_is_not_stopped() {
    JobId id = enqueue(Job.of("quick").timeout(Duration.ofDays(300)));
    worker().handle("quick", Json.class, (payload, context) -> "done").drain();
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_job_past_its_deadline_is_stopped_and_not_retried() {
    JobId id = enqueue(Job.of("hanging").deadline(Instant.now().plusMillis(700)));
    start(worker().handle("hanging", Json.class, AT_ONCE, hangsOnce));
    JobStatus job = await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.DEADLINE_EXCEEDED);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.TIMEOUT);
    assertThat(job.failures()).isZero();
  }

  @Test
  void a_job_that_never_started_fails_at_its_deadline() {
    JobId delayed =
        enqueue(Job.of("late").delay(Duration.ofHours(1)).deadline(Instant.now().plusMillis(300)));
    holdfast.admin().pause("paused");
    JobId paused = enqueue(Job.of("late").queue("paused").deadline(Instant.now().plusMillis(300)));
    start(worker("default", "paused").handle("late", Json.class, (payload, context) -> null));
    for (JobId id : new JobId[] {delayed, paused}) {
      assertThat(await(id, JobState.FAILED).attempt()).isZero();
      assertThat(failure(id).code()).isEqualTo(Failure.DEADLINE_EXCEEDED);
    }
  }

  @Test
  void a_deadline_in_the_year_9999_does_not_stop_the_job() {
    JobId id = enqueue(Job.of("quick").deadline(Instant.parse("9999-12-31T23:59:59Z")));
    start(worker().handle("quick", Json.class, (payload, context) -> "done"));
    await(id, JobState.SUCCEEDED);
  }
}
