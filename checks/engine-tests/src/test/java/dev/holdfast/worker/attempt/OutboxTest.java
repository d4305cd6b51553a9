package dev.holdfast.worker.attempt;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.SourceBusyException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private final MemorySource source = new MemorySource();
  private final Outbox outbox = new Outbox(source);

  @AfterEach
  void close() {
    outbox.close();
  }

  private CompletableFuture<Ack> settle(LeasedJob job) {
    return outbox.settle(new Settlement.Succeed(job.lease(), null));
  }

  private CompletableFuture<Ack> report(LeasedJob job, int percent) {
    return outbox.report(new Report.Progress(job.lease(), percent, null));
  }

  private LeasedJob held() {
    return source.hold(Samples.job());
  }

  private static Ack answer(CompletableFuture<Ack> future) throws Exception {
    return future.get(120, TimeUnit.SECONDS);
  }

  @Test
  void each_caller_gets_the_result_of_its_own_row() {
    CompletableFuture<Ack> held = settle(held());
    CompletableFuture<Ack> lost = settle(Samples.job());
    outbox.runOnce();
    assertThat(held).isCompletedWithValue(Ack.ACCEPTED);
    assertThat(lost).isCompletedWithValue(Ack.LEASE_LOST);
  }

  @Test
  void after_a_large_batch_the_next_one_is_collected_for_a_moment() {
    ManualNanos nanos = new ManualNanos();
    Outbox gathering = new Outbox(source, nanos);
    settleMany(gathering, 40);
    assertThat(gathering.runOnce()).isZero();
    settleMany(gathering, 5);
    assertThat(gathering.runOnce()).isBetween(Duration.ofNanos(1), Duration.ofMillis(2));
    assertThat(source.settled).hasSize(1);
    settleMany(gathering, 15);
    assertThat(gathering.runOnce()).isZero();
    assertThat(source.settled.get(1)).hasSize(20);
    settleMany(gathering, 1);
    nanos.advance(Duration.ofMillis(3));
    assertThat(gathering.runOnce()).isZero();
    assertThat(source.settled.get(2)).hasSize(1);
    // From a trickle nothing is gathered.
    settleMany(gathering, 1);
    assertThat(gathering.runOnce()).isZero();
    assertThat(source.settled).hasSize(4);
  }

  private void settleMany(Outbox to, int count) {
    for (int i = 0; i < count; i++) {
      var unused = to.settle(new Settlement.Succeed(held().lease(), null));
    }
  }

  @Test
  void rows_added_during_one_batch_form_the_next_one() throws Exception {
    CountDownLatch inSettle = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    source.before =
        verb -> {
          inSettle.countDown();
          awaitQuietly(goOn);
        };
    outbox.start();
    CompletableFuture<Ack> first = settle(held());
    assertThat(inSettle.await(120, TimeUnit.SECONDS)).isTrue();
    List<CompletableFuture<Ack>> more =
        IntStream.range(0, 100).mapToObj(i -> settle(held())).toList();
    goOn.countDown();
    answer(first);
    for (CompletableFuture<Ack> one : more) {
      assertThat(answer(one)).isEqualTo(Ack.ACCEPTED);
    }
    assertThat(source.settled).hasSize(2);
    assertThat(source.settled.get(1)).hasSize(100);
  }

  @Test
  void reports_of_a_job_are_written_before_its_settlement() {
    LeasedJob job = held();
    CompletableFuture<Ack> first = report(job, 50);
    CompletableFuture<Ack> second = report(job, 100);
    CompletableFuture<Ack> settled = settle(job);
    outbox.runOnce();
    assertThat(List.of(first, second, settled))
        .allSatisfy(answer -> assertThat(answer).isCompletedWithValue(Ack.ACCEPTED));
    assertThat(source.calls).containsExactly("report", "settle");
  }

  @Test
  void a_row_that_cannot_be_stored_does_not_fail_the_others() {
    List<CompletableFuture<Ack>> fine = new ArrayList<>();
    fine.add(settle(held()));
    LeasedJob bad = held();
    source.unstorable.add(bad.lease());
    CompletableFuture<Ack> refused = settle(bad);
    fine.add(settle(held()));
    outbox.runOnce();
    assertThat(fine).allSatisfy(answer -> assertThat(answer).isCompletedWithValue(Ack.ACCEPTED));
    assertThatThrownBy(refused::get).hasCauseInstanceOf(RefusedException.class);
  }

  @Test
  void a_report_that_cannot_be_stored_does_not_block_settlements() {
    LeasedJob bad = held();
    source.unstorable.add(bad.lease());
    CompletableFuture<Ack> refused = report(bad, 10);
    CompletableFuture<Ack> fine = settle(held());
    outbox.runOnce();
    assertThat(refused).isCompletedExceptionally();
    assertThat(fine).isCompletedWithValue(Ack.ACCEPTED);
  }

  @Test
  void rows_wait_while_the_source_is_unreachable_and_are_then_written_in_order() {
    LeasedJob job = held();
    CompletableFuture<Ack> before = report(job, 1);
    source.unavailable = true;
    assertThatThrownBy(outbox::runOnce).isInstanceOf(SourceUnavailableException.class);
    CompletableFuture<Ack> after = report(job, 2);
    assertThatThrownBy(outbox::runOnce).isInstanceOf(SourceUnavailableException.class);
    source.unavailable = false;
    outbox.runOnce();
    outbox.runOnce();
    assertThat(before).isCompletedWithValue(Ack.ACCEPTED);
    assertThat(after).isCompletedWithValue(Ack.ACCEPTED);
    assertThat(source.allReported())
        .extracting(report -> ((Report.Progress) report).percent())
        .containsExactly(1, 2);
  }

  @Test
  void rows_written_before_an_outage_are_not_written_again() {
    LeasedJob job = held();
    CompletableFuture<Ack> reported = report(job, 1);
    CompletableFuture<Ack> settled = settle(job);
    source.before =
        verb -> {
          if (verb.equals("settle")) {
            throw new SourceUnavailableException("away", new IllegalStateException());
          }
        };
    assertThatThrownBy(outbox::runOnce).isInstanceOf(SourceUnavailableException.class);
    assertThat(reported).isCompletedWithValue(Ack.ACCEPTED);
    source.before = verb -> {};
    outbox.runOnce();
    assertThat(settled).isCompletedWithValue(Ack.ACCEPTED);
    assertThat(source.allReported()).hasSize(1);
  }

  @Test
  void large_results_are_spread_over_several_batches() {
    Json large = new Json("\"" + "x".repeat(1_000_000) + "\"");
    List<CompletableFuture<Ack>> answers =
        IntStream.range(0, 20)
            .mapToObj(i -> outbox.settle(new Settlement.Succeed(held().lease(), large)))
            .toList();
    for (int i = 0; i < 4; i++) {
      outbox.runOnce();
    }
    assertThat(answers).allSatisfy(answer -> assertThat(answer).isDone());
    assertThat(source.settled).extracting(List::size).containsExactly(9, 9, 2);
  }

  @Test
  void a_locked_row_delays_no_other_job() throws Exception {
    LeasedJob locked = held();
    CountDownLatch unlocked = new CountDownLatch(1);
    source.beforeSettle =
        settlements -> {
          if (unlocked.getCount() > 0
              && settlements.stream().anyMatch(s -> s.lease().equals(locked.lease()))) {
            throw new SourceBusyException("lock timeout", new IllegalStateException());
          }
        };
    outbox.start();
    CompletableFuture<Ack> waiting = settle(locked);
    CompletableFuture<Ack> beside = settle(held());
    assertThat(answer(beside)).isEqualTo(Ack.ACCEPTED);
    assertThat(answer(settle(held()))).isEqualTo(Ack.ACCEPTED);
    until(() -> source.calls("settle") >= 8);
    assertThat(waiting).isNotDone();
    unlocked.countDown();
    assertThat(answer(waiting)).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void an_unexplained_error_is_retried_separately_and_delays_no_other_row() throws Exception {
    LeasedJob locked = held();
    LeasedJob other = held();
    CountDownLatch free = new CountDownLatch(1);
    source.before =
        verb -> {
          if (free.getCount() > 0) {
            throw new IllegalStateException("canceling statement due to lock timeout");
          }
        };
    CompletableFuture<Ack> first = settle(locked);
    CompletableFuture<Ack> second = settle(other);
    outbox.runOnce();
    until(() -> source.calls("settle") >= 3);
    free.countDown();
    assertThat(answer(first)).isEqualTo(Ack.ACCEPTED);
    assertThat(answer(second)).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void an_unexplained_error_that_persists_is_reported() {
    source.before =
        verb -> {
          throw new IllegalStateException("no way");
        };
    CompletableFuture<Ack> answer = settle(held());
    outbox.runOnce();
    assertThatThrownBy(() -> answer.get(120, TimeUnit.SECONDS)).hasMessageContaining("no way");
    assertThat(source.calls("settle")).isEqualTo(6);
  }

  @Test
  void a_settlement_whose_row_may_be_locked_waits_alone() throws Exception {
    LeasedJob locked = held();
    CountDownLatch unlocked = new CountDownLatch(1);
    source.before =
        verb -> {
          if (Thread.currentThread().isVirtual()) {
            awaitQuietly(unlocked);
          }
        };
    outbox.start();
    CompletableFuture<Ack> apart =
        outbox.settleApart(new Settlement.Release(locked.lease(), false));
    assertThat(answer(settle(held()))).isEqualTo(Ack.ACCEPTED);
    assertThat(apart).isNotDone();
    unlocked.countDown();
    assertThat(answer(apart)).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void a_separate_settlement_survives_an_outage() throws Exception {
    source.unavailable = true;
    CompletableFuture<Ack> apart =
        outbox.settleApart(new Settlement.Release(held().lease(), false));
    until(() -> source.calls("settle") >= 2);
    source.unavailable = false;
    assertThat(answer(apart)).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void a_row_without_a_result_from_the_source_counts_as_lease_lost() throws Exception {
    CompletableFuture<Ack> first = settle(held());
    CompletableFuture<Ack> second = settle(held());
    source.forgetsAnAnswer = true;
    outbox.runOnce();
    assertThat(answer(first)).isEqualTo(Ack.ACCEPTED);
    assertThat(answer(second)).isEqualTo(Ack.LEASE_LOST);
  }

  @Test
  void closing_completes_all_waiting_callers() {
    source.unavailable = true;
    CompletableFuture<Ack> inBatch = settle(held());
    assertThatThrownBy(outbox::runOnce).isInstanceOf(SourceUnavailableException.class);
    CompletableFuture<Ack> queued = settle(held());
    CompletableFuture<Ack> apart = outbox.settleApart(new Settlement.Release(held().lease(), true));
    outbox.close();
    CompletableFuture<Ack> late = settle(held());
    CompletableFuture<Ack> lateApart =
        outbox.settleApart(new Settlement.Release(held().lease(), true));
    for (CompletableFuture<Ack> answer : List.of(inBatch, queued, apart, late, lateApart)) {
      assertThatThrownBy(() -> answer.get(120, TimeUnit.SECONDS))
          .hasCauseInstanceOf(Outbox.StoppedException.class);
    }
  }

  @Test
  void concurrent_close_and_add_complete_every_caller() throws Exception {
    for (int i = 0; i < 200; i++) {
      Outbox racing = new Outbox(source);
      racing.start();
      LeasedJob job = held();
      CountDownLatch answered = new CountDownLatch(1);
      Thread.ofVirtual()
          .start(
              () -> {
                CompletableFuture<?> unused =
                    racing
                        .settle(new Settlement.Succeed(job.lease(), null))
                        .whenComplete((ack, error) -> answered.countDown());
              });
      racing.close();
      assertThat(answered.await(120, TimeUnit.SECONDS)).isTrue();
      assertThat(racing.awaitEnd(Duration.ofMinutes(2))).isTrue();
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
