package dev.holdfast.worker;

import static dev.holdfast.worker.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkerTest {
  /** What stopping may take beyond the patience of whoever asks for it, on a busy machine. */
  private static final Duration BEYOND = Duration.ofSeconds(30);

  private final MemorySource source = new MemorySource();
  private final List<JobListener> listeners = new ArrayList<>();
  private final List<String> heard = new CopyOnWriteArrayList<>();
  private final AtomicInteger begun = new AtomicInteger();
  private final CountDownLatch release = new CountDownLatch(1);
  private final List<Worker> workers = new ArrayList<>();

  @AfterEach
  void stop() {
    release.countDown();
    source.before = verb -> {};
    workers.forEach(worker -> worker.stop(Duration.ZERO));
  }

  private Worker worker(Timings timings, Handler<Json> handler) {
    Worker worker =
        new Worker(
            source,
            Samples.options(4, timings),
            Samples.CODEC,
            List.of(Kind.of(Samples.KIND, Json.class, handler)),
            listeners,
            new Metrics());
    workers.add(worker);
    return worker;
  }

  private Worker worker(Handler<Json> handler) {
    return worker(Samples.TIMINGS, handler);
  }

  private void listen() {
    listeners.add(
        new JobListener() {
          @Override
          public void started(LeasedJob job, String worker) {
            heard.add("started by " + worker);
          }

          @Override
          public void settled(LeasedJob job, Settlement settlement, Ack ack) {
            heard.add(settlement.getClass().getSimpleName() + " " + ack);
          }

          @Override
          public void lost(LeasedJob job) {
            heard.add("lost");
          }
        });
  }

  private void awaitSettled(int count) {
    until(() -> source.allSettled().size() == count);
  }

  private Object awaitRelease(Json payload, JobContext context) throws InterruptedException {
    begun.incrementAndGet();
    release.await();
    return "released";
  }

  // ---- running

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
  void handlers_that_compute_on_every_core_keep_no_other_from_running() {
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
  void a_handler_that_goes_on_after_it_was_given_up_is_told_of_until_it_leaves() {
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
  void a_ring_wakes_it() {
    Worker worker =
        new Worker(
            source,
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
                Duration.ZERO),
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
  void heartbeats_have_their_connection_before_the_first_claim() {
    source.with(Samples.job());
    worker((payload, context) -> null).start();
    awaitSettled(1);
    assertThat(source.calls.indexOf("commands")).isLessThan(source.calls.indexOf("claim"));
  }

  @Test
  void neither_exceptions_nor_errors_while_claiming_end_it() {
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
  void listeners_that_throw_harm_nothing() {
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
  void a_deadline_in_the_year_9999_is_no_trouble() {
    source.with(Samples.job(Samples.KIND, null, Duration.ofDays(365 * 7_900L)));
    worker((payload, context) -> null).start();
    awaitSettled(1);
    assertThat(source.allSettled().getFirst()).isInstanceOf(Settlement.Succeed.class);
  }

  @Test
  void retries_are_counted_by_code_but_not_the_last_failure() {
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
  void draining_runs_what_is_due_and_what_that_enqueues() {
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

  // ---- leases

  @Test
  void a_job_taken_over_before_it_began_is_skipped() {
    Timings brief =
        new Timings(
            Duration.ofMillis(20), Duration.ofMillis(40), Duration.ZERO, Duration.ofSeconds(1));
    listen();
    source.with(Samples.job());
    source.afterClaim =
        jobs -> {
          if (!jobs.isEmpty()) {
            sleep(brief.lease());
            source.held.clear();
          }
        };
    Worker worker = worker(brief, (payload, context) -> null).start();
    until(() -> worker.metrics().value(Metrics.DUPLICATE_SKIPS) == 1);
    until(() -> worker.metrics().value(Metrics.INFLIGHT) == 0);
    source.afterClaim = jobs -> {};
    source.with(Samples.job());
    until(() -> heard.contains("Succeed ACCEPTED"));
    assertThat(heard).filteredOn(line -> line.startsWith("started")).hasSize(1);
    assertThat(worker.metrics().value(Metrics.LATE_RESULTS)).isZero();
  }

  @Test
  void a_job_that_begins_late_but_is_still_held_runs() {
    Timings brief =
        new Timings(
            Duration.ofMillis(20), Duration.ofMillis(40), Duration.ZERO, Duration.ofSeconds(1));
    source.with(Samples.job());
    source.afterClaim = jobs -> sleep(brief.lease());
    Worker worker = worker(brief, (payload, context) -> null).start();
    awaitSettled(1);
    assertThat(worker.metrics().value(Metrics.DUPLICATE_SKIPS)).isZero();
  }

  @Test
  void a_lost_lease_stops_the_handler_and_is_told() {
    listen();
    LeasedJob job = Samples.job();
    source.with(job);
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 1);
    source.held.remove(job.lease());
    until(() -> heard.contains("lost"));
    assertThat(source.allSettled()).isEmpty();
    assertThat(worker.metrics().value(Metrics.LATE_RESULTS)).isEqualTo(1);
    assertThat(worker.metrics().value(Metrics.INFLIGHT)).isZero();
  }

  @Test
  void a_result_that_comes_too_late_is_told_and_counted() {
    listen();
    source.with(Samples.job());
    Worker worker =
        worker(
                new Timings(
                    Duration.ofHours(1), Duration.ofHours(3), Duration.ZERO, Duration.ofHours(1)),
                (payload, context) -> {
                  source.held.remove(context.lease());
                  return "late";
                })
            .start();
    until(() -> heard.contains("Succeed LEASE_LOST"));
    assertThat(worker.metrics().value(Metrics.LATE_RESULTS)).isEqualTo(1);
  }

  @Test
  void a_handler_that_settles_itself_is_asked_about_until_there_is_an_answer() {
    listen();
    source.with(Samples.job());
    AtomicInteger asked = new AtomicInteger();
    source.before =
        verb -> {
          if (verb.equals("succeeded") && asked.incrementAndGet() < 3) {
            throw new SourceUnavailableException("away", new IllegalStateException());
          }
        };
    worker(
            (payload, context) -> {
              context.settlingInTransaction();
              source.succeeded.add(context.lease());
              return null;
            })
        .start();
    until(() -> heard.contains("Succeed ACCEPTED"));
    assertThat(asked).hasValue(3);
    assertThat(source.allSettled()).isEmpty();
  }

  // ---- stopping

  @Test
  void an_idle_worker_stops_at_once() {
    Worker worker = worker((payload, context) -> null).start();
    until(() -> source.calls("claim") > 0);
    assertThat(stopping(worker, Duration.ofMinutes(1))).isLessThan(Duration.ofSeconds(30));
    assertThat(source.calls).contains("unlisten");
  }

  @Test
  void running_jobs_finish() {
    source.with(Samples.job(), Samples.job());
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 2);
    CompletableFuture<Void> stopping = CompletableFuture.runAsync(worker::close);
    until(() -> source.calls.contains("unlisten"));
    source.with(Samples.job());
    release.countDown();
    until(stopping::isDone);
    assertThat(source.allSettled())
        .hasSize(2)
        .allSatisfy(settled -> assertThat(settled).isInstanceOf(Settlement.Succeed.class));
    assertThat(source.waiting).hasSize(1);
  }

  @Test
  void jobs_that_take_longer_are_given_back() {
    LeasedJob job = Samples.job();
    source.with(job);
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 1);
    worker.stop(Duration.ZERO);
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(job.lease(), true));
  }

  @Test
  void a_handler_that_does_not_listen_is_given_back_all_the_same() {
    LeasedJob job = Samples.job();
    source.with(job);
    Worker worker = worker((payload, context) -> awaitWithoutListening()).start();
    until(() -> begun.get() == 1);
    worker.stop(Duration.ZERO);
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(job.lease(), true));
  }

  @Test
  void a_claim_under_way_is_given_back() {
    LeasedJob job = Samples.job();
    CountDownLatch claimed = new CountDownLatch(1);
    CountDownLatch answer = new CountDownLatch(1);
    source.with(job);
    source.afterClaim =
        jobs -> {
          claimed.countDown();
          awaitQuietly(answer);
        };
    Worker worker = worker((payload, context) -> null).start();
    until(() -> claimed.getCount() == 0);
    CompletableFuture<Void> stopping = CompletableFuture.runAsync(worker::close);
    until(() -> source.calls.contains("unlisten"));
    answer.countDown();
    until(stopping::isDone);
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(job.lease(), false));
    assertThat(source.held).isEmpty();
  }

  @Test
  void a_source_that_is_away_does_not_keep_it_from_stopping() {
    source.with(Samples.job());
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 1);
    source.away = true;
    release.countDown();
    assertThat(stopping(worker, Duration.ofMillis(500))).isLessThan(BEYOND.plusMillis(500));
  }

  @Test
  void a_source_that_never_answers_does_not_keep_it_from_stopping() {
    source.with(Samples.job());
    Worker worker = worker((payload, context) -> awaitWithoutListening()).start();
    until(() -> begun.get() == 1);
    CountDownLatch never = new CountDownLatch(1);
    source.before = verb -> awaitQuietly(never);
    assertThat(stopping(worker, Duration.ofMillis(500))).isLessThan(BEYOND.plusMillis(500));
    never.countDown();
  }

  @Test
  void stopping_twice_is_stopping_once_and_the_second_waits_for_the_first() {
    source.with(Samples.job());
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 1);
    CompletableFuture<Void> first = CompletableFuture.runAsync(worker::close);
    until(() -> source.calls.contains("unlisten"));
    CompletableFuture<Void> second = CompletableFuture.runAsync(worker::close);
    assertThat(second).isNotDone();
    release.countDown();
    until(second::isDone);
    assertThat(first).isDone();
    worker.close();
    assertThat(source.calls("unlisten")).isEqualTo(1);
  }

  @Test
  void whoever_is_interrupted_while_stopping_gives_back_at_once() throws Exception {
    LeasedJob job = Samples.job();
    source.with(job);
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 1);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    Thread stopping =
        Thread.ofPlatform()
            .start(
                () -> {
                  worker.stop(Duration.ofHours(1));
                  interrupted.complete(Thread.currentThread().isInterrupted());
                });
    until(() -> source.calls.contains("unlisten"));
    stopping.interrupt();
    assertThat(interrupted.get(120, TimeUnit.SECONDS)).isTrue();
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(job.lease(), true));
  }

  @Test
  void a_handler_may_stop_its_own_worker() {
    source.with(Samples.job());
    Worker[] worker = new Worker[1];
    worker[0] =
        worker(
            (payload, context) -> {
              worker[0].stop(Duration.ZERO);
              return null;
            });
    worker[0].start();
    awaitSettled(1);
    until(() -> worker[0].metrics().value(Metrics.INFLIGHT) == 0);
  }

  @Test
  void it_starts_once() {
    Worker worker = worker((payload, context) -> null).start();
    assertThatThrownBy(worker::start).isInstanceOf(IllegalStateException.class);
    worker.close();
    assertThatThrownBy(worker::drain).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void events_of_handlers_that_outlive_their_worker_are_refused() {
    source.with(Samples.job());
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    Worker worker =
        worker(
                (payload, context) -> {
                  awaitWithoutListening();
                  try {
                    context.event("late", "");
                  } catch (RuntimeException e) {
                    thrown.complete(e);
                  }
                  return null;
                })
            .start();
    until(() -> begun.get() == 1);
    worker.stop(Duration.ZERO);
    release.countDown();
    assertThat(thrown.orTimeout(10, TimeUnit.SECONDS).join())
        .isInstanceOf(LeaseLostException.class);
  }

  @Test
  void a_failed_attempt_is_logged_with_job_worker_and_code() {
    LeasedJob job = Samples.job();
    source.with(job);
    try (CapturedLog log = CapturedLog.of(AttemptLog.class)) {
      Worker worker =
          worker(
                  (payload, context) -> {
                    throw FailedException.of(FailureCategory.USER_CODE, "OOPS", "for their eyes");
                  })
              .start();
      until(() -> !log.lines(Level.WARN).isEmpty());
      assertThat(log.lines(Level.WARN))
          .containsExactly(
              Samples.KIND
                  + " "
                  + job.lease()
                  + " failed on "
                  + worker.name()
                  + ": OOPS; it is tried again");
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

  private static Duration stopping(Worker worker, Duration patience) {
    long start = System.nanoTime();
    worker.stop(patience);
    return Duration.ofNanos(System.nanoTime() - start);
  }

  private Object awaitWithoutListening() {
    begun.incrementAndGet();
    while (release.getCount() > 0) {
      try {
        release.await();
      } catch (InterruptedException ignored) {
        // as some handlers do
      }
    }
    return "released";
  }

  private static void sleep(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
