package dev.holdfast.worker.attempt;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.LeaseLostException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a handler reports and receives through its context. */
class AttemptContextTest extends AttemptContextFixture {
  private List<Integer> percents() {
    List<Integer> percents = new ArrayList<>();
    for (Report report : source.allReported()) {
      if (report instanceof Report.Progress progress) {
        percents.add(progress.percent());
      }
    }
    return percents;
  }

  private List<String> types() {
    return source.allReported().stream()
        .map(report -> report instanceof Report.Event event ? event.type() : "progress")
        .toList();
  }

  // ---- progress

  @Test
  void reporting_progress_does_not_wait_for_the_write() {
    source.unavailable = true;
    context.progress(10, "working");
    assertThat(source.calls).isEmpty();
  }

  @Test
  void the_latest_progress_reported_during_a_write_is_written_next() {
    for (int percent = 0; percent < 60; percent++) {
      context.progress(percent);
    }
    outbox.runOnce();
    outbox.runOnce();
    assertThat(percents()).containsExactly(0, 59);
  }

  @Test
  void at_most_one_report_waits_while_the_source_is_unreachable() {
    source.unavailable = true;
    for (int i = 0; i < 1_000; i++) {
      context.progress(i / 10);
      nanos.advance(Duration.ofSeconds(1));
    }
    context.progress(100);
    nanos.advance(Duration.ofSeconds(1));
    context.progress(100, "still");
    source.unavailable = false;
    outbox.runOnce();
    outbox.runOnce();
    outbox.runOnce();
    assertThat(percents()).containsExactly(0, 100);
  }

  @Test
  void the_last_progress_is_written_before_the_attempt_is_settled() {
    context.progress(1);
    context.progress(100, "done");
    end();
    outbox.runOnce();
    assertThat(percents()).containsExactly(1, 100);
  }

  @Test
  void progress_after_the_end_or_a_stop_is_ignored() {
    stop(new StopReason.Cancelled("wanted"));
    context.progress(1);
    end();
    context.progress(2);
    outbox.runOnce();
    assertThat(source.calls).isEmpty();
  }

  @Test
  void progress_out_of_range_is_refused() {
    assertThatThrownBy(() -> context.progress(101))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.BAD_PROGRESS));
  }

  @Test
  void a_rejected_progress_report_marks_the_lease_as_lost() {
    source.held.clear();
    context.progress(1);
    outbox.runOnce();
    assertThat(lost).hasValue(1);
  }

  // ---- events

  @Test
  void an_event_returns_once_it_is_written() {
    outbox.start();
    context.event("source:ready", "data");
    assertThat(types()).containsExactly("source:ready");
  }

  @Test
  void progress_and_events_keep_their_order() {
    outbox.start();
    for (int i = 0; i < 30; i++) {
      context.progress(3 * i);
      context.progress(3 * i + 1);
      context.event("step", i);
    }
    List<String> expected = new ArrayList<>();
    for (Report report : source.allReported()) {
      if (report instanceof Report.Event event) {
        expected.add(event.data().text());
      } else if (report instanceof Report.Progress progress && progress.percent() % 3 == 1) {
        expected.add("after " + progress.percent() / 3);
      }
    }
    for (int i = 0; i < 30; i++) {
      assertThat(expected).containsSubsequence("after " + i, "\"" + i + "\"");
    }
  }

  @Test
  void an_event_without_a_lease_is_rejected_and_marks_the_lease_as_lost() {
    outbox.start();
    source.held.clear();
    assertThatThrownBy(() -> context.event("late", ""))
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining(job.lease().toString());
    assertThat(lost).hasValue(1);
  }

  @Test
  void an_event_after_the_end_is_refused_without_a_call_to_the_source() {
    end();
    assertThatThrownBy(() -> context.event("late", "")).isInstanceOf(LeaseLostException.class);
    assertThat(source.calls).isEmpty();
  }

  @Test
  void an_event_that_cannot_be_stored_is_refused_with_its_code() {
    outbox.start();
    source.unstorable.add(job.lease());
    assertThatThrownBy(() -> context.event("bad", ""))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.EVENT_NOT_JSON));
    assertThatThrownBy(() -> context.event("no spaces", "")).isInstanceOf(RefusedException.class);
  }

  @Test
  void waiting_for_an_event_can_be_interrupted() throws Exception {
    source.unavailable = true;
    outbox.start();
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    Thread handler =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    context.event("step", "");
                    thrown.complete(new AssertionError("written"));
                  } catch (CancelledException cancelled) {
                    thrown.complete(
                        Thread.currentThread().isInterrupted()
                            ? cancelled
                            : new AssertionError("interrupt forgotten"));
                  }
                });
    until(() -> source.calls("report") > 0);
    handler.interrupt();
    assertThat(thrown.get(120, TimeUnit.SECONDS)).isInstanceOf(CancelledException.class);
  }

  // ---- settling in a transaction

  @Test
  void the_last_progress_is_written_before_the_transaction_locks_the_row() {
    outbox.start();
    context.progress(1);
    context.progress(100);
    context.settlingInTransaction();
    assertThat(percents()).endsWith(100);
  }

  @Test
  void progress_that_cannot_be_written_in_time_is_dropped() {
    context.progress(50);
    context.settlingInTransaction();
    outbox.runOnce();
    assertThat(source.allReported()).isEmpty();
  }

  @Test
  void while_settling_progress_is_ignored_and_events_are_refused() {
    context.settlingInTransaction();
    context.progress(50);
    assertThatThrownBy(() -> context.event("late", ""))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("events come before");
    end();
    outbox.runOnce();
    assertThat(source.calls).isEmpty();
  }

  // ---- cancelling

  @Test
  void check_cancelled_throws_once_the_handler_should_stop() {
    context.checkCancelled();
    assertThat(context.isCancelled()).isFalse();
    stop(new StopReason.Cancelled("not needed"));
    assertThat(context.isCancelled()).isTrue();
    assertThatThrownBy(context::checkCancelled)
        .isInstanceOf(CancelledException.class)
        .hasMessage("cancelled: not needed");
  }

  @Test
  void callbacks_run_once_each_even_if_one_throws() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    CountDownLatch last = new CountDownLatch(1);
    context.onCancel(calls::incrementAndGet);
    context.onCancel(
        () -> {
          throw new AssertionError("a bad callback");
        });
    context.onCancel(last::countDown);
    stop(new StopReason.TimedOut());
    assertThat(last.await(120, TimeUnit.SECONDS)).isTrue();
    assertThat(calls).hasValue(1);
  }

  @Test
  void a_callback_registered_after_the_stop_runs_at_once() {
    stop(new StopReason.TimedOut());
    AtomicInteger calls = new AtomicInteger();
    context.onCancel(calls::incrementAndGet);
    assertThat(calls).hasValue(1);
  }

  @Test
  void callbacks_run_while_handlers_compute_on_every_core() throws Exception {
    CountDownLatch called = new CountDownLatch(1);
    context.onCancel(called::countDown);
    long atMost = System.nanoTime() + Duration.ofSeconds(15).toNanos();
    int cores = Runtime.getRuntime().availableProcessors();
    CountDownLatch burning = new CountDownLatch(cores);
    List<Thread> burners = new ArrayList<>();
    for (int i = 0; i < cores; i++) {
      burners.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    burning.countDown();
                    while (called.getCount() > 0 && System.nanoTime() < atMost) {
                      Thread.onSpinWait();
                    }
                  }));
    }
    assertThat(burning.await(120, TimeUnit.SECONDS)).isTrue();
    stop(new StopReason.Cancelled("wanted"));
    assertThat(called.await(120, TimeUnit.SECONDS)).isTrue();
    for (Thread burner : burners) {
      burner.join();
    }
  }

  @Test
  void a_stop_reason_that_outranks_the_first_replaces_it() {
    assertThat(signal.set(new StopReason.Cancelled("wanted"))).isTrue();
    assertThat(signal.set(new StopReason.LeaseLost())).isFalse();
    assertThat(signal.set(new StopReason.TimedOut())).isFalse();
    assertThat(signal.reason()).isEqualTo(new StopReason.LeaseLost());
  }

  // ---- steps

  @Test
  void commands_of_operators_are_received_while_steps_are_loaded() throws Exception {
    outbox.start();
    CountDownLatch inStep = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Thread handler =
        Thread.ofVirtual()
            .start(
                () ->
                    context.step(
                        "one",
                        () -> {
                          inStep.countDown();
                          goOn.await();
                        }));
    assertThat(inStep.await(120, TimeUnit.SECONDS)).isTrue();
    PendingCommand later =
        new PendingCommand(
            false,
            false,
            new PendingCommand.Recovery(
                CommandAction.RETRY_STEP, "two", "ada", "why not", Instant.EPOCH),
            null);
    AtomicBoolean heard = new AtomicBoolean();
    source.before =
        verb -> {
          if (verb.equals("heartbeat")) {
            Thread keeper =
                Thread.ofVirtual().start(() -> context.steps().commands().onCommand(later));
            try {
              heard.set(keeper.join(Duration.ofSeconds(5)));
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
        };
    Thread loader = Thread.ofVirtual().start(() -> context.steps().open());
    assertThat(loader.join(Duration.ofSeconds(20))).isTrue();
    assertThat(heard).isTrue();
    goOn.countDown();
    handler.join();
  }
}
