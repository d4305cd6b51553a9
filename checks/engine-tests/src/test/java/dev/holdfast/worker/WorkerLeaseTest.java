package dev.holdfast.worker;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Jobs that a worker may have lost. */
class WorkerLeaseTest extends WorkerFixture {
  @Test
  void a_job_claimed_by_another_before_it_began_is_skipped() {
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
  void a_job_that_begins_late_but_still_has_its_lease_runs() {
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
  void a_lost_lease_stops_the_handler_and_is_reported() {
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
  void a_late_result_is_reported_and_counted() {
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
  void whether_a_handler_settled_its_own_job_is_queried_until_there_is_an_answer() {
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

  private static void sleep(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
