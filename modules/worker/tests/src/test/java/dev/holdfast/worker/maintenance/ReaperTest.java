package dev.holdfast.worker.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.SourceBusyException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReaperTest {
  private final ManualNanos nanos = new ManualNanos();
  private final MemorySource source = new MemorySource();
  private final Metrics metrics = new Metrics();
  private final Reaper reaper = new Reaper(source, Samples.TIMINGS, metrics, nanos);

  private boolean reaps() {
    source.sweeps.clear();
    reaper.runOnce();
    return source.sweeps.contains(true);
  }

  @Test
  void it_reaps_from_the_start_and_every_half_heartbeat() {
    assertThat(reaps()).isTrue();
    Duration half = Samples.TIMINGS.heartbeat().dividedBy(2);
    assertThat(reaper.runOnce())
        .isBetween(half.multipliedBy(3).dividedBy(4), half.multipliedBy(5).dividedBy(4));
  }

  @Test
  void while_there_are_old_jobs_to_delete_the_next_round_follows_at_once() {
    source.oldJobs = 2;
    assertThat(reaper.runOnce()).isZero();
    assertThat(reaper.runOnce()).isZero();
    assertThat(reaper.runOnce()).isPositive();
  }

  @Test
  void a_failed_deletion_of_old_jobs_does_not_stop_the_sweep() {
    source.before =
        verb -> {
          if (verb.equals("deleteOldJobs")) {
            throw new IllegalStateException("permission denied");
          }
        };
    assertThat(reaps()).isTrue();
    assertThat(reaps()).isTrue();
  }

  @Test
  void recovered_jobs_are_counted_by_reason() {
    source.recovered = Map.of("stale", 3, "ended", 0, "timeout", 1);
    reaper.runOnce();
    reaper.runOnce();
    assertThat(metrics.value("worker.recovered_jobs_total{reason=\"stale\"}")).isEqualTo(6);
    assertThat(metrics.value("worker.recovered_jobs_total{reason=\"timeout\"}")).isEqualTo(2);
    assertThat(metrics.value("worker.recovered_jobs_total{reason=\"ended\"}")).isZero();
  }

  @Test
  void after_an_outage_it_waits_one_lease_before_it_reaps() {
    source.unavailable = true;
    assertThat(reaps()).isFalse();
    nanos.advance(Duration.ofHours(1));
    assertThat(reaps()).isFalse();
    source.unavailable = false;
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
    assertThat(source.cancelledSince).containsExactly(Duration.ZERO, half);
    nanos.advance(Samples.TIMINGS.lease());
    reaper.runOnce();
    assertThat(source.cancelledSince).hasSize(2);
    assertThat(source.sweeps).contains(true);
  }

  @Test
  void a_busy_source_is_logged_and_an_unreachable_one_is_not_logged_again() {
    try (CapturedLog log = CapturedLog.of(Reaper.class)) {
      source.unavailable = true;
      reaper.runOnce();
      assertThat(log.lines(Level.WARN)).isEmpty();
      source.before =
          verb -> {
            throw new SourceBusyException("reap: locked", new IllegalStateException());
          };
      reaper.runOnce();
      assertThat(log.lines(Level.WARN)).containsExactly("sweep: reap: locked (trying again)");
      assertThat(log.lines(Level.ERROR)).isEmpty();
    }
  }

  @Test
  void a_second_outage_starts_the_wait_again() {
    source.unavailable = true;
    reaps();
    source.unavailable = false;
    reaps();
    nanos.advance(Samples.TIMINGS.lease().dividedBy(2));
    source.unavailable = true;
    reaps();
    source.unavailable = false;
    reaps();
    nanos.advance(Samples.TIMINGS.lease().dividedBy(2));
    assertThat(reaps()).isFalse();
    nanos.advance(Samples.TIMINGS.lease().dividedBy(2));
    assertThat(reaps()).isTrue();
  }

  @Test
  void a_source_that_answers_late_counts_as_an_outage_too() {
    source.before = verb -> nanos.advance(Samples.TIMINGS.heartbeat().plusNanos(1));
    assertThat(reaps()).isFalse();
    source.before = verb -> {};
    assertThat(reaps()).isFalse();
    nanos.advance(Samples.TIMINGS.lease());
    assertThat(reaps()).isTrue();
  }

  @Test
  void the_grace_period_is_added_to_the_wait() {
    Reaper patient =
        new Reaper(source, Samples.TIMINGS.withReapGrace(Duration.ofSeconds(60)), metrics, nanos);
    source.unavailable = true;
    patient.runOnce();
    source.unavailable = false;
    patient.runOnce();
    nanos.advance(Samples.TIMINGS.lease().plusSeconds(59));
    patient.runOnce();
    assertThat(source.sweeps).doesNotContain(true);
  }
}
