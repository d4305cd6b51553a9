package dev.holdfast;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class CancellationTest extends LibraryTest {
  /** The next heartbeat would be far too late: cancellations are polled separately. */
  private static final Timings RARE =
      new Timings(
          Duration.ofMinutes(1), Duration.ofMinutes(3), Duration.ZERO, Duration.ofSeconds(30));

  private static final CountDownLatch NEVER_COMES = new CountDownLatch(1);

  private JobId running(Handler<Json> handler, Timings timings) {
    CountDownLatch begun = new CountDownLatch(1);
    JobId id = enqueue(Job.of("long"));
    start(
        worker()
            .concurrency(1)
            .timings(timings)
            .handle(
                "long",
                Json.class,
                AT_ONCE,
                (payload, context) -> {
                  begun.countDown();
                  return handler.handle(payload, context);
                })
            .handle("next", Json.class, (payload, context) -> "ran"));
    until(begun);
    return id;
  }

  private Cancellation.Outcome cancel(JobId id) {
    return holdfast.cancel(id, "not needed any more").orElseThrow().outcome();
  }

  static Stream<Arguments> waysToSeeIt() {
    Handler<Json> byCheck =
        (payload, context) -> {
          while (true) {
            context.checkCancelled();
            TimeUnit.MILLISECONDS.sleep(1);
          }
        };
    Handler<Json> byFlag =
        (payload, context) -> {
          ignoreInterruptsWhile(() -> !context.isCancelled());
          throw new IllegalStateException("gave up");
        };
    Handler<Json> byCallback =
        (payload, context) -> {
          CountDownLatch told = new CountDownLatch(1);
          context.onCancel(told::countDown);
          ignoreInterruptsWhile(() -> told.getCount() > 0);
          throw new IllegalStateException("gave up");
        };
    Handler<Json> byInterrupt =
        (payload, context) -> {
          NEVER_COMES.await();
          return null;
        };
    return Stream.of(
        Arguments.of("check", byCheck),
        Arguments.of("flag", byFlag),
        Arguments.of("callback", byCallback),
        Arguments.of("interrupt", byInterrupt));
  }

  @ParameterizedTest(name = "by {0}")
  @MethodSource("waysToSeeIt")
  void a_handler_is_cancelled_before_its_next_heartbeat(String way, Handler<Json> handler) {
    JobId id = running(handler, RARE);
    long asked = System.nanoTime();
    assertThat(cancel(id)).isEqualTo(Cancellation.Outcome.REQUESTED);
    JobStatus job = await(id, JobState.CANCELLED);
    // A second, and room for a machine that has other things to do.
    assertThat(since(asked)).as("by " + way).isLessThan(Duration.ofSeconds(20));
    assertThat(job.cancelReason()).isEqualTo("not needed any more");
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.failures()).isZero();
    assertThat(timeline(id))
        .containsExactly("created", "processing", "cancel:requested", "cancelled");
  }

  @Test
  void a_repeated_and_a_late_cancel_have_their_own_outcomes() {
    JobId id =
        running(
            (payload, context) -> {
              NEVER_COMES.await();
              return null;
            },
            RARE);
    assertThat(cancel(id)).isEqualTo(Cancellation.Outcome.REQUESTED);
    assertThat(cancel(id))
        .isIn(Cancellation.Outcome.ALREADY_REQUESTED, Cancellation.Outcome.ALREADY_TERMINAL);
    await(id, JobState.CANCELLED);
    assertThat(cancel(id)).isEqualTo(Cancellation.Outcome.ALREADY_TERMINAL);
    assertThat(holdfast.cancel(JobId.next(), "which?")).isEmpty();
  }

  @Test
  void a_pending_job_is_cancelled_at_once_and_never_runs() {
    JobId id = enqueue(Job.of("never"));
    assertThat(cancel(id)).isEqualTo(Cancellation.Outcome.CANCELLED);
    List<JobId> ran = new ArrayList<>();
    worker().handle("never", Json.class, (payload, context) -> ran.add(context.id())).drain();
    assertThat(ran).isEmpty();
    assertThat(job(id).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void a_cancelled_handler_that_returns_a_result_has_succeeded() {
    JobId id =
        running(
            (payload, context) -> {
              try {
                NEVER_COMES.await();
              } catch (InterruptedException e) {
                assertThat(context.isCancelled()).isTrue();
              }
              return "was nearly done";
            },
            RARE);
    cancel(id);
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).contains("nearly done");
  }

  @Test
  void a_cancelled_handler_may_still_report_an_event() {
    JobId id =
        running(
            (payload, context) -> {
              try {
                NEVER_COMES.await();
              } catch (InterruptedException e) {
                context.event("cleaned-up", List.of("a", "b"));
              }
              throw new IllegalStateException("stopped");
            },
            RARE);
    cancel(id);
    await(id, JobState.CANCELLED);
    assertThat(timeline(id)).containsSequence("cleaned-up", "cancelled");
  }

  @Test
  void a_handler_that_ignores_the_cancel_loses_its_lease_and_its_slot_is_free_again()
      throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    CompletableFuture<Throwable> late = new CompletableFuture<>();
    JobId id =
        running(
            (payload, context) -> {
              ignoreInterruptsWhile(() -> goOn.getCount() > 0);
              Thread.interrupted();
              try {
                context.event("late", "");
                late.complete(new AssertionError("written"));
              } catch (RuntimeException refused) {
                late.complete(refused);
              }
              return "late";
            },
            RARE.withCancelGrace(Duration.ofMillis(300)));
    cancel(id);
    JobStatus job = await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.CANCEL_TIMEOUT);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.CANCELLED);
    await(enqueue(Job.of("next")), JobState.SUCCEEDED);
    goOn.countDown();
    assertThat(late.get(SOON.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(LeaseLostException.class);
    assertThat(job(id)).isEqualTo(job);
    assertThat(timeline(id)).doesNotContain("late");
  }

  @Test
  void a_handler_has_the_cancel_grace_period_of_its_worker() {
    CountDownLatch goOn = new CountDownLatch(1);
    JobId id =
        running(
            (payload, context) -> {
              ignoreInterruptsWhile(() -> goOn.getCount() > 0);
              return "done";
            },
            RARE.withCancelGrace(Duration.ofMinutes(10)));
    cancel(id);
    assertThat(
            db.count(
                "SELECT round(extract(epoch FROM cancel_deadline - cancel_requested_at))"
                    + " FROM holdfast.job"))
        .isEqualTo(600);
    goOn.countDown();
    await(id, JobState.SUCCEEDED);
  }

  @Test
  void an_abandoned_handler_is_counted() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    JobId id = enqueue(Job.of("deaf"));
    Worker worker =
        start(
            worker()
                .timings(RARE.withCancelGrace(Duration.ofMillis(100)))
                .handle(
                    "deaf",
                    Json.class,
                    (payload, context) -> {
                      begun.countDown();
                      ignoreInterruptsWhile(() -> goOn.getCount() > 0);
                      return null;
                    }));
    begun.await();
    cancel(id);
    await(id, JobState.FAILED);
    // The job has ended before its handler is counted.
    until(() -> worker.metrics().value(Metrics.ABANDONED) == 1);
    goOn.countDown();
  }

  @Test
  void concurrent_cancel_and_finish_end_the_job_once() {
    for (int i = 0; i < 30; i++) {
      CountDownLatch begun = new CountDownLatch(1);
      JobId id = enqueue(Job.of("racing"));
      Worker worker =
          start(
              worker()
                  .handle(
                      "racing",
                      Json.class,
                      (payload, context) -> {
                        begun.countDown();
                        return "done";
                      }));
      until(begun);
      cancel(id);
      until(() -> job(id).state().isTerminal());
      worker.close();
      assertThat(timeline(id))
          .filteredOn(type -> List.of("done", "cancelled", "failed").contains(type))
          .hasSize(1);
    }
  }
}
