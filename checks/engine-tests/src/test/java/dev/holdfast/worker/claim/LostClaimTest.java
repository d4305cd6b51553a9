package dev.holdfast.worker.claim;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.attempt.AttemptExecutor;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.attempt.Slots;
import dev.holdfast.worker.attempt.TestHost;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The jobs of a claim whose response was lost. */
class LostClaimTest {
  private final MemorySource source = new MemorySource();
  private final Metrics metrics = new Metrics();
  private final WorkerOptions options = Samples.options(3);
  private final TestHost host = new TestHost(source, options);
  private final Slots slots = host.services.slots();
  private final Claimer claimer =
      new Claimer(
          source,
          options,
          List.of(),
          slots,
          metrics,
          (job, claimedAt) -> slots.add(host.run(job, (payload, context) -> null)));

  private void loseClaim(Claimer asking) {
    source.afterClaim =
        jobs -> {
          throw new SourceUnavailableException("answer lost", new IllegalStateException());
        };
    assertThatThrownBy(asking::runOnce).isInstanceOf(SourceUnavailableException.class);
    source.afterClaim = jobs -> {};
  }

  @Test
  void a_claim_whose_response_was_lost_is_released() {
    LeasedJob known = Samples.job();
    source.with(known);
    claimer.runOnce();
    LeasedJob unknown = Samples.job();
    source.with(unknown);
    loseClaim(claimer);
    claimer.runOnce();
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(unknown.lease(), false));
    assertThat(source.held).containsExactly(known.lease());
    claimer.runOnce();
    assertThat(source.calls("heldBy")).isEqualTo(1);
  }

  @Test
  void a_claim_executed_after_the_query_for_it_is_released_too() {
    ManualNanos nanos = new ManualNanos();
    Claimer asking =
        new Claimer(source, options, List.of(), slots, metrics, (job, claimedAt) -> true, nanos);
    source.with(Samples.job());
    loseClaim(asking);
    source.held.clear();
    asking.runOnce();
    assertThat(source.allSettled()).isEmpty();

    LeasedJob late = Samples.job();
    source.held.add(late.lease());
    asking.runOnce();
    assertThat(source.held).isNotEmpty();
    nanos.advance(Duration.ofSeconds(1));
    asking.runOnce();
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(late.lease(), false));
    assertThat(source.held).isEmpty();

    for (int i = 0; i < 60; i++) {
      nanos.advance(Duration.ofSeconds(1));
      asking.runOnce();
    }
    assertThat(source.calls("heldBy")).isEqualTo(4);
  }

  @Test
  void a_lost_claim_is_also_released_while_it_is_paused_or_closed_and_at_the_end() {
    ManualNanos nanos = new ManualNanos();
    Claimer asking =
        new Claimer(source, options, List.of(), slots, metrics, (job, claimedAt) -> true, nanos);
    asking.releaseLostClaims();
    assertThat(source.calls("heldBy")).isZero();
    source.with(Samples.job());
    loseClaim(asking);

    asking.pause(true);
    assertThat(asking.runOnce()).isEqualTo(Duration.ofSeconds(1));
    assertThat(source.held).isEmpty();
    asking.close();
    source.held.add(Samples.job().lease());
    nanos.advance(Duration.ofSeconds(1));
    assertThat(asking.runOnce()).isEqualTo(Duration.ofSeconds(1));
    assertThat(source.held).isEmpty();
    source.held.add(Samples.job().lease());
    asking.releaseLostClaims();
    assertThat(source.held).isEmpty();

    nanos.advance(Duration.ofSeconds(5));
    asking.runOnce();
    nanos.advance(Duration.ofSeconds(30));
    assertThat(asking.runOnce()).isEqualTo(Duration.ofSeconds(10));
    assertThat(source.calls("claim")).isEqualTo(1);
  }

  @Test
  void an_attempt_whose_handler_still_runs_is_not_released_although_it_has_left_its_slot() {
    CountDownLatch release = new CountDownLatch(1);
    AttemptExecutor abandoned =
        host.run(
            Samples.job(),
            (payload, context) -> {
              while (release.getCount() > 0) {
                LockSupport.parkNanos(1_000_000);
                Thread.interrupted();
              }
              return null;
            });
    assertThat(abandoned.start()).isTrue();
    until(abandoned::isHandling);
    abandoned.lost();
    abandoned.abandon();
    assertThat(slots.used()).isZero();
    loseClaim(claimer);
    claimer.releaseLostClaims();
    assertThat(source.held).containsExactly(abandoned.lease());
    release.countDown();
    until(() -> slots.overdue().isEmpty());
    claimer.releaseLostClaims();
    assertThat(source.allSettled())
        .containsExactly(new Settlement.Release(abandoned.lease(), false));
  }

  @Test
  void with_a_lost_claim_it_looks_again_after_a_second_also_when_all_slots_are_taken() {
    source.with(Samples.job(), Samples.job(), Samples.job());
    claimer.runOnce();
    assertThat(claimer.runOnce()).isEqualTo(Duration.ofSeconds(10));
    slots.all().forEach(slots::remove);
    source.with(Samples.job());
    loseClaim(claimer);
    source.with(Samples.job(), Samples.job(), Samples.job());
    claimer.runOnce();
    assertThat(claimer.runOnce()).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void a_failed_release_is_repeated_later() {
    source.with(Samples.job());
    source.afterClaim =
        jobs -> {
          throw new IllegalStateException("answer lost");
        };
    assertThatThrownBy(claimer::runOnce).isInstanceOf(IllegalStateException.class);
    source.afterClaim = jobs -> {};
    source.unavailable = true;
    assertThatThrownBy(claimer::runOnce).isInstanceOf(SourceUnavailableException.class);
    source.unavailable = false;
    claimer.runOnce();
    assertThat(source.held).isEmpty();
  }
}
