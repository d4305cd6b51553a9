package dev.holdfast.worker;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.worker.attempt.AttemptLog;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.OverdueHandler;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** A worker claims, runs and settles. */
class WorkerTest extends WorkerFixture {
  @Test
  void it_claims_runs_and_settles() {
    listen();
    LeasedJob job = Samples.job();
    source.with(job);
    Worker worker = worker((payload, context) -> context.id()).start();
    awaitSettled(1);
    assertThat(source.allSettled())
        .containsExactly(new Settlement.Succeed(job.lease(), new Json("\"" + job.id() + "\"")));
    until(() -> heard.size() == 2);
    assertThat(heard).containsExactly("started by " + worker.name(), "Succeed ACCEPTED");
    assertThat(worker.metrics().value("worker.run_seconds_count")).isEqualTo(1);
    assertThat(worker.metrics().value("worker.queue_wait_seconds_count")).isEqualTo(1);
    assertThat(worker.metrics().snapshot().get("worker.claim_seconds_count")).isPositive();
  }

  @Test
  void handlers_that_compute_on_every_core_do_not_keep_others_from_running() {
    int cores = Runtime.getRuntime().availableProcessors();
    CountDownLatch computing = new CountDownLatch(cores);
    Kind<Json> compute =
        Kind.of(
            "compute",
            Json.class,
            (payload, context) -> {
              computing.countDown();
              long n = 0;
              while (release.getCount() > 0) {
                n++;
              }
              return n;
            });
    Kind<Json> quick = Kind.of(Samples.KIND, Json.class, (payload, context) -> "quick");
    Worker worker =
        new Worker(
            source,
            List.of(),
            Samples.options(cores + 1),
            Samples.CODEC,
            List.of(compute, quick),
            listeners,
            new Metrics());
    workers.add(worker);
    for (int i = 0; i < cores; i++) {
      source.with(Samples.job("compute", null, null));
    }
    worker.start();
    until(() -> computing.getCount() == 0);
    LeasedJob job = Samples.job();
    source.with(job);
    awaitSettled(1);
    assertThat(source.allSettled())
        .containsExactly(new Settlement.Succeed(job.lease(), new Json("\"quick\"")));
  }

  @Test
  void an_abandoned_handler_is_listed_as_overdue_until_it_returns() {
    LeasedJob job = Samples.job(Samples.KIND, Duration.ofMillis(20), null);
    source.with(job);
    Worker worker =
        worker(
            (payload, context) -> {
              while (release.getCount() > 0) {
                LockSupport.parkNanos(1_000_000);
                Thread.interrupted();
              }
              return null;
            });
    assertThat(worker.overdue()).isEmpty();
    worker.start();
    until(() -> !worker.overdue().isEmpty());
    OverdueHandler overdue = worker.overdue().getFirst();
    assertThat(overdue.lease()).isEqualTo(job.lease());
    assertThat(overdue.kind()).isEqualTo(Samples.KIND);
    assertThat(overdue.since()).isPositive();
    assertThat(worker.metrics().value(Metrics.OVERDUE)).isEqualTo(1);
    release.countDown();
    until(() -> worker.overdue().isEmpty());
  }

  @Test
  void a_notification_wakes_it() {
    Worker worker =
        new Worker(
            source,
            List.of(),
            new WorkerOptions(
                "worker:default:0@test",
                List.of(Samples.QUEUE),
                1,
                Samples.TIMINGS,
                Duration.ofHours(1),
                Duration.ZERO,
                Backpressure.Settings.OFF,
                Samples.SCRATCH,
                Samples.STORE,
                Samples.HEALING,
                Duration.ZERO,
                WorkerOptions.DEFAULT_FAILURE_LOG),
            Samples.CODEC,
            List.of(Kind.of(Samples.KIND, Json.class, (payload, context) -> null)),
            List.of(),
            new Metrics());
    workers.add(worker);
    worker.start();
    until(() -> source.calls("claim") == 1);
    source.with(Samples.job());
    var wake = source.wake;
    assertThat(wake).isNotNull();
    if (wake != null) {
      wake.accept(Samples.QUEUE);
    }
    awaitSettled(1);
  }

  @Test
  void the_heartbeat_connection_is_opened_before_the_first_claim() {
    source.with(Samples.job());
    worker((payload, context) -> null).start();
    awaitSettled(1);
    assertThat(source.calls.indexOf("commands")).isLessThan(source.calls.indexOf("claim"));
  }

  @Test
  void exceptions_and_errors_while_claiming_do_not_end_it() {
    AtomicInteger claims = new AtomicInteger();
    source.before =
        verb -> {
          if (verb.equals("claim")) {
            switch (claims.incrementAndGet()) {
              case 1 -> throw new IllegalStateException("a bug");
              case 2 -> throw new StackOverflowError();
              default -> {
                // all is well
              }
            }
          }
        };
    source.with(Samples.job());
    worker((payload, context) -> null).start();
    awaitSettled(1);
  }

  @Test
  void without_notifications_it_polls() {
    source.before =
        verb -> {
          if (verb.equals("listen")) {
            throw new IllegalStateException("not here");
          }
        };
    worker((payload, context) -> null).start();
    source.with(Samples.job());
    awaitSettled(1);
  }

  @Test
  void listeners_that_throw_affect_no_job() {
    listeners.add(
        new JobListener() {
          @Override
          public void started(LeasedJob job, String worker) {
            throw new StackOverflowError();
          }

          @Override
          public void settled(LeasedJob job, Settlement settlement, Ack ack) {
            throw new IllegalStateException("a bad listener");
          }
        });
    listen();
    source.with(Samples.job(), Samples.job());
    Worker worker = worker((payload, context) -> null).start();
    awaitSettled(2);
    until(() -> heard.size() == 4);
    assertThat(worker.metrics().value(Metrics.INFLIGHT)).isZero();
  }

  @Test
  void a_deadline_in_the_year_9999_does_not_stop_the_job() {
    source.with(Samples.job(Samples.KIND, null, Duration.ofDays(365 * 7_900L)));
    worker((payload, context) -> null).start();
    awaitSettled(1);
    assertThat(source.allSettled().getFirst()).isInstanceOf(Settlement.Succeed.class);
  }

  @Test
  void retries_are_counted_by_code_and_the_last_failure_is_not() {
    LeasedJob fresh = Samples.job();
    LeasedJob last =
        new LeasedJob(
            Samples.job().lease(),
            Samples.KIND,
            Samples.QUEUE,
            Json.EMPTY,
            "default",
            "default",
            fresh.run(),
            "key",
            Instant.EPOCH,
            2,
            3,
            Duration.ZERO,
            null,
            null,
            JobAttributes.NONE);
    source.with(fresh, last);
    Worker worker =
        worker(
                (payload, context) -> {
                  throw FailedException.of(FailureCategory.USER_CODE, "OOPS", "again");
                })
            .start();
    awaitSettled(2);
    until(() -> worker.metrics().value(Metrics.INFLIGHT) == 0);
    worker.close();
    assertThat(worker.metrics().value("worker.retry_attempts_total{code=\"OOPS\"}")).isEqualTo(1);
  }

  @Test
  void draining_runs_due_jobs_and_the_jobs_they_enqueue() {
    source.with(Samples.job(), Samples.job());
    AtomicInteger runs = new AtomicInteger();
    worker(
            (payload, context) -> {
              if (runs.incrementAndGet() <= 5) {
                source.with(Samples.job());
              }
              return null;
            })
        .drain();
    assertThat(runs).hasValue(7);
    assertThat(source.allSettled()).hasSize(7);
  }

  @Test
  void a_failed_attempt_is_logged_once_with_job_worker_message_and_stack_trace() {
    LeasedJob job = Samples.job();
    source.with(job);
    try (CapturedLog log = CapturedLog.of(AttemptLog.class)) {
      Worker worker =
          worker(
                  (payload, context) -> {
                    throw FailedException.of(FailureCategory.USER_CODE, "OOPS", "no such page");
                  })
              .start();
      until(() -> !log.lines(Level.WARN).isEmpty());
      assertThat(log.lines(Level.WARN))
          .singleElement(InstanceOfAssertFactories.STRING)
          .startsWith(
              "%s %s failed on %s and is tried again: OOPS: no such page\n%s"
                  .formatted(
                      Samples.KIND, job.lease(), worker.name(), FailedException.class.getName()))
          .contains("\tat " + WorkerTest.class.getName());
    }
  }

  @Test
  void a_job_without_a_handler_fails_and_the_next_one_runs() {
    source.with(Samples.job("unknown", null, null), Samples.job());
    worker((payload, context) -> null).start();
    awaitSettled(2);
    assertThat(source.allSettled())
        .anySatisfy(
            settled ->
                assertThat(settled)
                    .isInstanceOfSatisfying(
                        Settlement.Fail.class,
                        fail -> assertThat(fail.failure().code()).isEqualTo(Failure.NO_HANDLER)));
  }
}
