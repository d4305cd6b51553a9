package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.worker.config.Backpressure;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DrainTest extends LibraryTest {
  record Countdown(int left) {}

  @Test
  void it_runs_all_due_jobs_and_returns() {
    List<Job> jobs = IntStream.range(0, 300).mapToObj(i -> Job.of("quick")).toList();
    holdfast.enqueue(jobs);
    worker().handle("quick", Json.class, (payload, context) -> "done").drain();
    assertThat(jobs)
        .allSatisfy(job -> assertThat(job(job.id()).state()).isEqualTo(JobState.SUCCEEDED));
  }

  @Test
  void it_runs_jobs_that_handlers_enqueue() {
    AtomicInteger runs = new AtomicInteger();
    enqueue(Job.of("countdown", new Countdown(10)));
    worker()
        .handle(
            "countdown",
            Countdown.class,
            (countdown, context) -> {
              runs.incrementAndGet();
              if (countdown.left() > 0) {
                holdfast.enqueue(Job.of("countdown", new Countdown(countdown.left() - 1)));
              }
              return null;
            })
        .drain();
    assertThat(runs).hasValue(11);
  }

  @Test
  void it_runs_retries_that_are_due_at_once() {
    JobId id = enqueue(Job.of("flaky"));
    worker()
        .handle(
            "flaky",
            Json.class,
            AT_ONCE,
            (payload, context) -> {
              if (context.lease().attempt() < 3) {
                throw new IllegalStateException("again");
              }
              return null;
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void it_does_not_run_jobs_that_are_delayed_paused_or_of_other_queues() {
    JobId later = enqueue(Job.of("quick").delay(Duration.ofHours(1)));
    JobId elsewhere = enqueue(Job.of("quick").queue("elsewhere"));
    JobId paused = enqueue(Job.of("quick").queue("paused"));
    holdfast.admin().pause("paused");
    worker("default", "paused").handle("quick", Json.class, (payload, context) -> null).drain();
    for (JobId id : List.of(later, elsewhere, paused)) {
      assertThat(job(id).state()).isEqualTo(JobState.PENDING);
    }
  }

  @Test
  void it_runs_jobs_with_concurrency_keys_one_after_the_other() {
    List<JobId> jobs =
        IntStream.range(0, 5)
            .mapToObj(i -> enqueue(Job.of("quick").concurrencyKey("one", 1)))
            .toList();
    worker().handle("quick", Json.class, (payload, context) -> null).drain();
    assertThat(jobs).allSatisfy(id -> assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED));
  }

  @Test
  void it_ignores_backpressure() {
    JobId id = enqueue(Job.of("quick"));
    worker()
        .backpressure(new Backpressure.Settings(0L, 0.0, Duration.ofMinutes(1), () -> 1.0))
        .handle("quick", Json.class, (payload, context) -> null)
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void it_returns_at_once_without_due_jobs() {
    worker().handle("quick", Json.class, (payload, context) -> null).drain();
  }

  @Test
  void it_throws_on_a_database_without_the_schema() {
    Holdfast empty = closing(Holdfast.on(pool(db.empty().url(), 3)));
    assertThatThrownBy(
            () -> workerOf(empty).handle("quick", Json.class, (payload, context) -> null).drain())
        .isInstanceOfSatisfying(
            DatabaseException.class,
            e -> assertThat(e.reason()).isEqualTo(DatabaseException.Reason.SCHEMA_MISSING));
  }
}
