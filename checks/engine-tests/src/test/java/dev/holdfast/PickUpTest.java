package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** How soon a job is found. Polling comes so rarely here that it would fail these tests. */
class PickUpTest extends LibraryTest {
  private static final Duration PROMPT = Duration.ofSeconds(20);

  private final CountDownLatch goOn = new CountDownLatch(1);

  private WorkerBuilder patient() {
    return worker()
        .poll(NEVER)
        .handle("echo", Json.class, (payload, context) -> payload)
        .handle(
            "wait",
            Json.class,
            (payload, context) -> {
              goOn.await();
              return null;
            });
  }

  /** Runs a first job, so that the worker is known to listen and to have nothing to do. */
  private Worker startIdle(WorkerBuilder builder) {
    Worker worker = start(builder);
    await(enqueue(Job.of("echo")), JobState.SUCCEEDED);
    until(() -> worker.metrics().value("worker.inflight_jobs") == 0);
    return worker;
  }

  private Duration waited(JobId id) {
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(job.startedAt()).isNotNull();
    return Duration.between(job.runAt(), job.startedAt());
  }

  @Test
  void a_new_job_is_picked_up_at_once() {
    startIdle(patient());
    assertThat(waited(enqueue(Job.of("echo")))).isLessThan(PROMPT);
  }

  @Test
  void a_job_enqueued_in_a_transaction_is_picked_up_at_its_commit() throws Exception {
    startIdle(patient());
    JobId id;
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      id = holdfast.enqueue(connection, Job.of("echo")).id();
      connection.commit();
    }
    assertThat(waited(id)).isLessThan(PROMPT);
  }

  @Test
  void a_delayed_job_starts_when_it_is_due() {
    startIdle(patient());
    JobId id = enqueue(Job.of("echo").delay(Duration.ofMillis(700)));
    assertThat(waited(id)).isBetween(Duration.ZERO, PROMPT);
  }

  @Test
  void a_delayed_job_starts_when_it_is_due_while_others_run() {
    startIdle(patient());
    JobId running = enqueue(Job.of("wait"));
    await(running, JobState.RUNNING);
    JobId id = enqueue(Job.of("echo").delay(Duration.ofMillis(700)));
    assertThat(waited(id)).isBetween(Duration.ZERO, PROMPT);
    goOn.countDown();
    await(running, JobState.SUCCEEDED);
  }

  @Test
  void a_delayed_job_is_not_forgotten_when_others_are_claimed_before_it() {
    holdfast.admin().pause("default");
    JobId running = enqueue(Job.of("wait"));
    JobId delayed = enqueue(Job.of("echo").delay(Duration.ofMillis(1_500)));
    start(patient());
    holdfast.admin().resume("default");
    await(running, JobState.RUNNING);
    assertThat(waited(delayed)).isBetween(Duration.ZERO, PROMPT);
    goOn.countDown();
  }

  @Test
  @OnlyDirect("the server sweeps every half heartbeat of its own; until then polling finds it")
  void a_retry_starts_when_its_backoff_is_over() {
    startIdle(
        patient()
            .handle(
                "flaky",
                Json.class,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    throw new FailedException(
                        Failure.of(FailureCategory.INFRASTRUCTURE, "BUSY", "later"),
                        Duration.ofMillis(700));
                  }
                  return null;
                }));
    assertThat(waited(enqueue(Job.of("flaky")))).isBetween(Duration.ZERO, PROMPT);
  }

  @Test
  void a_job_an_operator_retries_is_picked_up_at_once() {
    startIdle(patient());
    JobId id = enqueue(Job.of("echo").delay(Duration.ofHours(1)));
    holdfast.cancel(id, "mistake");
    holdfast.jobs().retry(List.of(id), Tenant.ANY);
    assertThat(waited(id)).isLessThan(PROMPT);
  }

  private static double claims(Worker worker) {
    return worker.metrics().snapshot().getOrDefault("worker.claim_seconds_count", 0.0);
  }

  @Test
  void a_paused_queue_runs_nothing_and_a_resumed_one_continues_at_once() {
    Worker worker = startIdle(patient());
    holdfast.admin().pause("default");
    double before = claims(worker);
    JobId id = enqueue(Job.of("echo"));
    // The worker was notified, has claimed and found nothing.
    until(() -> claims(worker) > before);
    assertThat(job(id).state()).isEqualTo(JobState.PENDING);
    long resumed = System.nanoTime();
    holdfast.admin().resume("default");
    await(id, JobState.SUCCEEDED);
    assertThat(since(resumed)).isLessThan(PROMPT);
  }

  @Test
  void a_job_without_a_notification_is_found_by_polling() {
    JobId id = enqueue(Job.of("echo").delay(Duration.ofHours(1)));
    start(worker().poll(Duration.ofMillis(200)).handle("echo", Json.class, (p, context) -> p));
    await(enqueue(Job.of("echo")), JobState.SUCCEEDED);
    db.sql("UPDATE holdfast.job SET run_at = clock_timestamp() WHERE id = ?", id.value());
    assertThat(waited(id)).isLessThan(PROMPT);
  }

  @Test
  void terminated_connections_are_reopened() {
    startIdle(patient());
    for (int i = 0; i < 3; i++) {
      db.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
              + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
      assertThat(waited(enqueue(Job.of("echo")))).isLessThan(PROMPT);
    }
  }
}
