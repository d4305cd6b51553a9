package dev.holdfast.worker.attempt;

import static dev.holdfast.worker.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.handler.Attachment;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.handler.UnknownKind;
import dev.holdfast.worker.source.MemorySource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AttemptExecutorTest {
  private final MemorySource source = new MemorySource();
  private final TestHost host = new TestHost(source);
  private final LeasedJob job = Samples.job();
  private final AtomicBoolean begun = new AtomicBoolean();

  @BeforeEach
  void start() {
    host.outbox.start();
  }

  @AfterEach
  void close() {
    host.outbox.close();
  }

  private TestHost.End end(AttemptExecutor run) {
    run.run();
    return end();
  }

  private TestHost.End end() {
    until(() -> !host.ends.isEmpty());
    return host.end();
  }

  private Failure failure(AttemptExecutor run) {
    if (end(run).settlement() instanceof Settlement.Fail fail) {
      return fail.failure();
    }
    throw new AssertionError("did not fail: " + end().settlement());
  }

  private Failure failureOf(Handler<Json> handler) {
    return failure(host.run(job, handler));
  }

  /** One whose handler is known to have begun. */
  private AttemptExecutor noticed() {
    return host.run(
        job,
        (payload, context) -> {
          begun.set(true);
          return "done";
        });
  }

  // ---- how handlers leave

  @Test
  void what_a_handler_returns_is_the_result() {
    assertThat(end(host.run(job, (payload, context) -> "fine")))
        .extracting(TestHost.End::settlement, TestHost.End::ack)
        .containsExactly(new Settlement.Succeed(job.lease(), new Json("\"fine\"")), Ack.ACCEPTED);
  }

  @Test
  void without_a_handler_the_job_fails_and_is_not_retried() {
    Failure failure = failure(host.run(job, (Kind<?>) null));
    assertThat(failure.category()).isEqualTo(FailureCategory.CONFIGURATION);
    assertThat(failure.code()).isEqualTo(Failure.NO_HANDLER);
    assertThat(failure.retryable()).isFalse();
  }

  @Test
  void a_kind_that_others_may_know_is_left_for_them_longer_every_time() {
    host.knownElsewhere = job -> true;
    assertThat(end(host.run(job, (Kind<?>) null)).settlement())
        .isEqualTo(new Settlement.Snooze(job.lease(), Duration.ofSeconds(1)));
    assertThat(UnknownKind.delay(2)).isEqualTo(Duration.ofSeconds(2));
    assertThat(UnknownKind.delay(5)).isEqualTo(Duration.ofSeconds(16));
    assertThat(UnknownKind.delay(1_000)).isEqualTo(Duration.ofSeconds(30));
  }

  @Test
  void while_it_asks_who_knows_its_kind_an_attempt_does_not_wait_for_a_thread() {
    AttemptExecutor run = host.run(job, (Kind<?>) null);
    assertThat(run.hasBegun()).isFalse();
    host.knownElsewhere = asked -> run.hasBegun();
    assertThat(end(run).settlement()).isInstanceOf(Settlement.Snooze.class);
  }

  @Test
  void a_source_that_knows_no_other_workers_goes_by_how_often_it_was_left() {
    Duration patience = Duration.ofSeconds(6);
    assertThat(source.mayBeKnown(job, Duration.ZERO)).isFalse();
    assertThat(source.mayBeKnown(job, patience)).isTrue();
    assertThat(source.mayBeKnown(Samples.attempt(job, 3), patience)).isTrue();
    assertThat(source.mayBeKnown(Samples.attempt(job, 4), patience)).isFalse();
  }

  @Test
  void a_payload_that_does_not_fit_is_not_retried() {
    Failure failure = failure(host.run(job, Kind.of("k", Integer.class, (n, context) -> n)));
    assertThat(failure.category()).isEqualTo(FailureCategory.DATA_QUALITY);
    assertThat(failure.code()).isEqualTo(Failure.VALIDATION);
    assertThat(failure.retryable()).isFalse();
  }

  @Test
  void a_result_that_is_too_large_is_not_retried() {
    Json large = new Json("\"" + "x".repeat(Limits.RESULT_BYTES) + "\"");
    Failure failure = failureOf((payload, context) -> large);
    assertThat(failure.code()).isEqualTo("RESULT_TOO_LARGE");
    assertThat(failure.retryable()).isFalse();
  }

  @Test
  void a_result_that_cannot_be_stored_fails_the_job_instead() {
    source.unstorable.add(job.lease());
    Failure failure = failureOf((payload, context) -> "odd");
    assertThat(failure.code()).isEqualTo("RESULT_NOT_JSON");
    assertThat(failure.retryable()).isFalse();
  }

  @Test
  void a_failure_says_what_the_handler_said() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              throw FailedException.of(FailureCategory.INFRASTRUCTURE, "S3_DOWN", "no bucket");
            });
    assertThat(failure.code()).isEqualTo("S3_DOWN");
    assertThat(failure.retryable()).isTrue();
    assertThat(failure.stackTrace()).contains("AttemptExecutorTest");
  }

  @Test
  void out_of_memory_is_the_machine_s_fault() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              throw new OutOfMemoryError("heap");
            });
    assertThat(failure.category()).isEqualTo(FailureCategory.INFRASTRUCTURE);
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void an_exception_that_cannot_be_read_is_still_a_failure() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              throw new IllegalStateException() {
                private static final long serialVersionUID = 1L;

                @Override
                public String getMessage() {
                  throw new UnsupportedOperationException("none of your business");
                }
              };
            });
    assertThat(failure.message()).contains("its message could not be read");
  }

  @Test
  void a_snooze_is_no_failure() {
    assertThat(
            end(host.run(
                    job,
                    (payload, context) -> {
                      throw context.snooze(Duration.ofMinutes(5));
                    }))
                .settlement())
        .isEqualTo(new Settlement.Snooze(job.lease(), Duration.ofMinutes(5)));
  }

  @Test
  void a_snooze_into_the_past_fails_the_attempt_and_nothing_else() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              throw context.snooze(Duration.ofMinutes(-5));
            });
    assertThat(failure.code()).isEqualTo("BAD_DELAY");
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void progress_out_of_range_fails_the_call_and_the_handler_may_go_on() {
    TestHost.End end =
        end(
            host.run(
                job,
                (payload, context) -> {
                  try {
                    context.progress(101);
                  } catch (RefusedException refused) {
                    return "done";
                  }
                  return "unnoticed";
                }));
    assertThat(end.settlement())
        .isEqualTo(new Settlement.Succeed(job.lease(), new Json("\"done\"")));
  }

  @Test
  void progress_out_of_range_that_nobody_catches_fails_the_attempt_and_not_the_job() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              context.progress(-1);
              return null;
            });
    assertThat(failure.code()).isEqualTo("BAD_PROGRESS");
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void what_the_handler_reported_is_written_before_its_end() {
    end(
        host.run(
            job,
            (payload, context) -> {
              context.progress(1);
              context.progress(50);
              context.progress(100);
              return null;
            }));
    assertThat(source.allReported()).last().isEqualTo(new Report.Progress(job.lease(), 100, null));
    assertThat(source.calls.indexOf("settle")).isGreaterThan(source.calls.lastIndexOf("report"));
  }

  @Test
  void trouble_around_the_handler_fails_the_attempt() {
    AttemptExecutor run = host.run(job, (payload, context) -> null);
    run.broken(new IllegalStateException("no timer"));
    Settlement settlement = end().settlement();
    assertThat(settlement).isInstanceOf(Settlement.Fail.class);
  }

  // ---- stopping

  @Test
  void a_stop_is_seen_before_the_interrupt() {
    AtomicBoolean seen = new AtomicBoolean();
    CountDownLatch inHandler = new CountDownLatch(1);
    AttemptExecutor run =
        host.run(
            job,
            (payload, context) -> {
              inHandler.countDown();
              try {
                Thread.sleep(Duration.ofMinutes(1));
              } catch (InterruptedException e) {
                seen.set(context.isCancelled());
                throw e;
              }
              return null;
            });
    Thread.ofVirtual().start(run::run);
    until(() -> inHandler.getCount() == 0);
    run.stop(new StopReason.Cancelled("wanted"));
    assertThat(end().settlement()).isEqualTo(new Settlement.Cancel(job.lease(), null));
    assertThat(seen).isTrue();
  }

  @Test
  void a_handler_that_was_told_to_stop_before_it_began_does_not_begin() {
    AttemptExecutor run = noticed();
    run.stop(new StopReason.Cancelled("wanted"));
    assertThat(end(run).settlement()).isEqualTo(new Settlement.Cancel(job.lease(), null));
    assertThat(begun).isFalse();
  }

  @Test
  void one_that_no_thread_has_come_to_is_cancelled_without_waiting_for_a_thread() {
    AttemptExecutor run = host.run(job, (payload, context) -> "done");
    run.stop(new StopReason.Cancelled("wanted"));
    assertThat(end().settlement()).isEqualTo(new Settlement.Cancel(job.lease(), null));
    run.run();
    assertThat(host.ends).hasSize(1);
    assertThat(host.begun).isEmpty();
  }

  @Test
  void its_time_counts_from_when_its_handler_begins() {
    AttemptExecutor[] run = new AttemptExecutor[1];
    run[0] =
        host.run(
            job,
            (payload, context) -> {
              assertThat(host.begun).containsExactly(run[0]);
              return "done";
            });
    assertThat(host.begun).isEmpty();
    assertThat(end(run[0]).settlement()).isInstanceOf(Settlement.Succeed.class);
  }

  @Test
  void one_that_is_late_when_it_would_begin_does_not() {
    AttemptExecutor run = noticed();
    host.whenBeginning = late -> late.stop(new StopReason.PastDeadline());
    assertThat(failure(run).code()).isEqualTo(Failure.DEADLINE_EXCEEDED);
    assertThat(begun).isFalse();
  }

  @Test
  void a_result_counts_though_the_job_was_cancelled_meanwhile() {
    AttemptExecutor[] run = new AttemptExecutor[1];
    run[0] =
        host.run(
            job,
            (payload, context) -> {
              run[0].stop(new StopReason.Cancelled("too late"));
              return "done";
            });
    assertThat(end(run[0]).settlement()).isInstanceOf(Settlement.Succeed.class);
  }

  @Test
  void an_interrupt_does_not_outlive_the_handler() {
    AttemptExecutor[] run = new AttemptExecutor[1];
    run[0] =
        host.run(
            job,
            (payload, context) -> {
              run[0].stop(new StopReason.TimedOut());
              assertThat(Thread.currentThread().isInterrupted()).isTrue();
              return null;
            });
    end(run[0]);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void an_attempt_that_has_ended_is_not_stopped_any_more() {
    AttemptExecutor run = host.run(job, (payload, context) -> null);
    end(run);
    run.stop(new StopReason.Shutdown());
    run.lost();
    run.abandon();
    assertThat(host.stopping).isEmpty();
    assertThat(host.ends).hasSize(1);
  }

  @Test
  void a_handler_that_was_given_up_no_longer_holds_its_job() {
    CountDownLatch inHandler = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicBoolean refused = new AtomicBoolean();
    AttemptExecutor run =
        host.run(
            job,
            (payload, context) -> {
              inHandler.countDown();
              awaitIgnoringInterrupts(goOn);
              try {
                context.event("late", "");
              } catch (LeaseLostException e) {
                refused.set(true);
              }
              return "late";
            });
    Thread handler = Thread.ofVirtual().start(run::run);
    until(() -> inHandler.getCount() == 0);
    run.stop(new StopReason.Cancelled("wanted"));
    run.abandon();
    assertThat(end().settlement()).isInstanceOf(Settlement.Fail.class);
    goOn.countDown();
    until(() -> !handler.isAlive());
    assertThat(refused).isTrue();
    assertThat(host.ends).hasSize(1);
    assertThat(source.allSettled()).hasSize(1);
  }

  @Test
  void leaving_stopping_and_giving_up_at_once_end_the_attempt_once() throws Exception {
    for (int i = 0; i < 300; i++) {
      LeasedJob raced = Samples.job();
      CyclicBarrier barrier = new CyclicBarrier(3);
      AttemptExecutor run =
          host.run(
              raced,
              (payload, context) -> {
                barrier.await();
                return "done";
              });
      Thread handler = Thread.ofVirtual().start(run::run);
      Thread canceller =
          Thread.ofVirtual().start(() -> meet(barrier, () -> run.stop(new StopReason.LeaseLost())));
      Thread watchdog = Thread.ofVirtual().start(() -> meet(barrier, run::abandon));
      handler.join();
      canceller.join();
      watchdog.join();
      int expected = i + 1;
      until(() -> host.ends.size() == expected);
    }
    assertThat(host.ends).hasSize(300);
  }

  @Test
  void what_is_attached_is_killed_before_an_abandoned_attempt_is_settled() {
    Attached program = new Attached();
    AttemptExecutor run = attaching(program);
    run.stop(new StopReason.Cancelled("wanted"));
    until(() -> program.terminated.get());
    assertThat(program.settledWhenKilled).isNull();
    run.abandon();
    until(() -> program.settledWhenKilled != null);
    assertThat(program.settledWhenKilled).isFalse();
    assertThat(end().settlement()).isInstanceOf(Settlement.Fail.class);
    program.left.countDown();
  }

  @Test
  void what_is_attached_is_killed_when_the_lease_is_lost_after_a_cancel() {
    Attached program = new Attached();
    AttemptExecutor run = attaching(program);
    run.stop(new StopReason.Cancelled("wanted"));
    until(() -> program.terminated.get());
    run.lost();
    until(() -> program.settledWhenKilled != null);
    program.left.countDown();
    assertThat(end().ack()).isEqualTo(Ack.LEASE_LOST);
  }

  private final class Attached implements Attachment {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch left = new CountDownLatch(1);
    final AtomicBoolean terminated = new AtomicBoolean();
    volatile @Nullable Boolean settledWhenKilled;

    @Override
    public void terminate() {
      terminated.set(true);
    }

    @Override
    public void kill() {
      if (settledWhenKilled != null) {
        return;
      }
      // Long enough to see a settlement that does not wait for this.
      long until = System.nanoTime() + Duration.ofMillis(500).toNanos();
      while (host.ends.isEmpty() && System.nanoTime() < until) {
        LockSupport.parkNanos(1_000_000);
      }
      settledWhenKilled = !host.ends.isEmpty();
    }
  }

  private AttemptExecutor attaching(Attached program) {
    AttemptExecutor run =
        host.run(
            job,
            (payload, context) -> {
              context.attach(program);
              program.begun.countDown();
              awaitIgnoringInterrupts(program.left);
              return null;
            });
    Thread.ofVirtual().start(run::run);
    until(() -> program.begun.getCount() == 0);
    return run;
  }

  @Test
  void secrets_are_redacted_in_the_texts_of_failures_and_in_log_lines() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              context.log("the key is " + Samples.SECRET);
              throw new IllegalStateException("the key was " + Samples.SECRET);
            });
    assertThat(failure.toString()).contains("the key was ***").doesNotContain(Samples.SECRET);
    assertThat(source.allReported()).contains(new Report.Log(job.lease(), 1, "the key is ***\n"));
  }

  // ---- settling in the handler's own transaction

  @Test
  void an_attempt_that_settled_itself_is_not_settled_again() {
    TestHost.End end =
        end(
            host.run(
                job,
                (payload, context) -> {
                  context.settlingInTransaction();
                  source.succeeded.add(context.lease());
                  return "ignored";
                }));
    assertThat(end.settlement()).isNull();
    assertThat(end.ack()).isEqualTo(Ack.ACCEPTED);
    assertThat(source.calls("settle")).isZero();
  }

  @Test
  void a_commit_whose_answer_was_lost_is_recognised() {
    TestHost.End end =
        end(
            host.run(
                job,
                (payload, context) -> {
                  context.settlingInTransaction();
                  source.succeeded.add(context.lease());
                  throw new IllegalStateException("connection reset");
                }));
    assertThat(end.ack()).isEqualTo(Ack.ACCEPTED);
    assertThat(source.calls("settle")).isZero();
  }

  @Test
  void a_transaction_that_was_not_committed_fails_the_attempt() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              context.settlingInTransaction();
              return null;
            });
    assertThat(failure.message()).contains("did not commit");
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void when_it_cannot_be_asked_the_fence_decides() {
    source.before =
        verb -> {
          if (verb.equals("succeeded")) {
            throw new IllegalStateException("permission denied");
          }
        };
    Failure failure =
        failureOf(
            (payload, context) -> {
              context.settlingInTransaction();
              throw new IllegalArgumentException("its own");
            });
    assertThat(failure.message()).contains("its own");
  }

  @Test
  void when_nothing_can_be_written_the_attempt_still_ends() {
    host.outbox.close();
    TestHost.End end = end(host.run(job, (payload, context) -> "done"));
    assertThat(end.settlement()).isNull();
    assertThat(end.ack()).isEqualTo(Ack.LEASE_LOST);
  }

  private static void meet(CyclicBarrier barrier, Runnable then) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    then.run();
  }

  private static void awaitIgnoringInterrupts(CountDownLatch latch) {
    while (true) {
      try {
        latch.await();
        return;
      } catch (InterruptedException ignored) {
        // as some handlers do
      }
    }
  }
}
