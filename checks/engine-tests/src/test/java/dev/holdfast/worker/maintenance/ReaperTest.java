package dev.holdfast.worker.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReaperTest {
  private final ManualNanos nanos = new ManualNanos();
  private final SweptQueue queue = new SweptQueue();
  private final Metrics metrics = new Metrics();
  private final Reaper reaper = new Reaper(queue, Samples.TIMINGS, metrics, nanos);

  /** In memory: answers, or fails. */
  private static final class SweptQueue implements Reaper.Verbs {
    boolean unavailable;
    boolean reaped;
    Runnable before = () -> {};
    Map<String, Integer> recovered = Map.of();
    final List<Duration> cancelledSince = new ArrayList<>();

    private void called() {
      before.run();
      if (unavailable) {
        throw new SourceUnavailableException("away", new IllegalStateException());
      }
    }

    @Override
    public void promote() {
      called();
    }

    @Override
    public Map<String, Integer> reapAndExpire(Duration grace) {
      called();
      reaped = true;
      return recovered;
    }

    @Override
    public Map<String, Integer> expireCancelled(Duration age) {
      called();
      cancelledSince.add(age);
      return Map.of();
    }
  }

  private void sweep() {
    try {
      reaper.runOnce();
    } catch (SourceUnavailableException expected) {
      assertThat(queue.unavailable).isTrue();
    }
  }

  private boolean reaps() {
    queue.reaped = false;
    sweep();
    return queue.reaped;
  }

  @Test
  void it_reaps_from_the_start_and_every_half_heartbeat() {
    assertThat(reaps()).isTrue();
    Duration half = Samples.TIMINGS.heartbeat().dividedBy(2);
    assertThat(reaper.runOnce())
        .isBetween(half.multipliedBy(3).dividedBy(4), half.multipliedBy(5).dividedBy(4));
  }

  @Test
  void recovered_jobs_are_counted_by_reason() {
    queue.recovered = Map.of("stale", 3, "ended", 0, "timeout", 1);
    reaper.runOnce();
    reaper.runOnce();
    assertThat(metrics.value("worker.recovered_jobs_total{reason=\"stale\"}")).isEqualTo(6);
    assertThat(metrics.value("worker.recovered_jobs_total{reason=\"timeout\"}")).isEqualTo(2);
    assertThat(metrics.value("worker.recovered_jobs_total{reason=\"ended\"}")).isZero();
  }

  @Test
  void after_an_outage_it_waits_one_lease_before_it_reaps() {
    queue.unavailable = true;
    assertThat(reaps()).isFalse();
    nanos.advance(Duration.ofHours(1));
    assertThat(reaps()).isFalse();
    queue.unavailable = false;
    assertThat(reaps()).isFalse();
    nanos.advance(Samples.TIMINGS.lease().minusNanos(1));
    assertThat(reaps()).isFalse();
    nanos.advance(Duration.ofNanos(1));
    assertThat(reaps()).isTrue();
    assertThat(reaps()).isTrue();
  }

  @Test
  void the_reaper_of_a_server_waits_one_lease_from_its_start_before_it_reaps() {
    reaper.waitingFirst();
    assertThat(reaps()).isFalse();
    nanos.advance(Samples.TIMINGS.lease().minusNanos(1));
    assertThat(reaps()).isFalse();
    nanos.advance(Duration.ofNanos(1));
    assertThat(reaps()).isTrue();
  }

  @Test
  void while_it_waits_it_ends_cancellations_that_were_requested_since_the_wait_began() {
    reaper.waitingFirst();
    reaper.runOnce();
    Duration half = Samples.TIMINGS.lease().dividedBy(2);
    nanos.advance(half);
    reaper.runOnce();
    assertThat(queue.cancelledSince).containsExactly(Duration.ZERO, half);
    nanos.advance(Samples.TIMINGS.lease());
    reaper.runOnce();
    assertThat(queue.cancelledSince).hasSize(2);
    assertThat(queue.reaped).isTrue();
  }

  @Test
  void a_second_outage_starts_the_wait_again() {
    queue.unavailable = true;
    reaps();
    queue.unavailable = false;
    reaps();
    nanos.advance(Samples.TIMINGS.lease().dividedBy(2));
    queue.unavailable = true;
    reaps();
    queue.unavailable = false;
    reaps();
    nanos.advance(Samples.TIMINGS.lease().dividedBy(2));
    assertThat(reaps()).isFalse();
    nanos.advance(Samples.TIMINGS.lease().dividedBy(2));
    assertThat(reaps()).isTrue();
  }

  @Test
  void a_source_that_answers_late_counts_as_an_outage_too() {
    queue.before = () -> nanos.advance(Samples.TIMINGS.heartbeat().plusNanos(1));
    assertThat(reaps()).isFalse();
    queue.before = () -> {};
    assertThat(reaps()).isFalse();
    nanos.advance(Samples.TIMINGS.lease());
    assertThat(reaps()).isTrue();
  }

  @Test
  void the_grace_period_is_added_to_the_wait() {
    Reaper patient =
        new Reaper(queue, Samples.TIMINGS.withReapGrace(Duration.ofSeconds(60)), metrics, nanos);
    queue.unavailable = true;
    assertThatThrownBy(patient::runOnce).isInstanceOf(SourceUnavailableException.class);
    queue.unavailable = false;
    patient.runOnce();
    nanos.advance(Samples.TIMINGS.lease().plusSeconds(59));
    patient.runOnce();
    assertThat(queue.reaped).isFalse();
  }
}
