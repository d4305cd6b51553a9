package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class WorkerMetricsTest extends LibraryTest {
  @Test
  void all_documented_metrics_are_present_from_the_start() {
    Worker worker = start(worker().handle("k", Json.class, (payload, context) -> null));
    assertThat(worker.metrics().snapshot())
        .containsKeys(
            "worker.inflight_jobs",
            "worker.pauses_total",
            "worker.heartbeats_total",
            "worker.duplicate_skips_total",
            "worker.atomic_acquire_fail_total",
            "worker.late_results_total",
            "worker.abandoned_handlers_total",
            "worker.overdue_handlers",
            "worker.claim_seconds_count",
            "worker.claim_seconds_sum",
            "worker.run_seconds_count",
            "worker.run_seconds_sum",
            "worker.queue_wait_seconds_count",
            "worker.queue_wait_seconds_sum",
            "worker.recovered_jobs_total{reason=\"stale\"}",
            "worker.recovered_jobs_total{reason=\"ended\"}",
            "worker.recovered_jobs_total{reason=\"timeout\"}",
            "worker.retry_attempts_total{code=\"HANDLER_FAILED\"}",
            "task.self_heal.attempts_total{class=\"stuck_no_progress\","
                + "outcome=\"recovered\",strategy=\"hard_reset\"}",
            "task.self_heal.recovered_total{class=\"transient_runtime\",strategy=\"soft_reset\"}",
            "task.self_heal.exhausted_total{class=\"deterministic_policy\",strategy=\"fail\"}",
            "task.step.wall_timeout_total{class=\"stuck_no_progress\",strategy=\"soft_reset\"}",
            "task.step.idle_timeout_total{class=\"stuck_no_progress\",strategy=\"queue_retry\"}",
            "task.step.no_progress_total{class=\"stuck_no_progress\",strategy=\"hard_reset\"}",
            "task.step.duration_seconds_count{class=\"none\",outcome=\"done\",strategy=\"none\"}");
  }

  @Test
  @OnlyDirect("the server recovers jobs, and counts them")
  void retries_recoveries_runs_and_heartbeats_are_counted() {
    JobId flaky = enqueue(Job.of("flaky"));
    JobId hopeless = enqueue(Job.of("hopeless").maxAttempts(2));
    JobId slow = enqueue(Job.of("slow"));
    assertThat(
            holdfast
                .jobs()
                .claim(
                    new ClaimRequest("default", 1, "worker:default:9@gone", Duration.ofMillis(1)))
                .jobs())
        .extracting(job -> job.id())
        .containsExactly(flaky);
    Worker worker =
        start(
            worker()
                .timings(SWEEPING)
                .handle(
                    "flaky",
                    Json.class,
                    AT_ONCE,
                    (payload, context) -> {
                      if (context.lease().attempt() == 2) {
                        throw FailedException.of(FailureCategory.USER_CODE, "OOPS", "once");
                      }
                      return null;
                    })
                .handle(
                    "hopeless",
                    Json.class,
                    AT_ONCE,
                    (payload, context) -> {
                      throw FailedException.of(FailureCategory.USER_CODE, "NO", "ever");
                    })
                .handle(
                    "slow",
                    Json.class,
                    (payload, context) -> {
                      Thread.sleep(SWEEPING.heartbeat().multipliedBy(3));
                      return null;
                    }));
    await(flaky, JobState.SUCCEEDED);
    await(hopeless, JobState.FAILED);
    await(slow, JobState.SUCCEEDED);
    until(() -> worker.metrics().value(Metrics.INFLIGHT) == 0);
    worker.close();
    assertThat(worker.metrics().snapshot())
        .containsEntry("worker.recovered_jobs_total{reason=\"stale\"}", 1.0)
        .containsEntry("worker.retry_attempts_total{code=\"OOPS\"}", 1.0)
        .containsEntry("worker.retry_attempts_total{code=\"NO\"}", 1.0)
        .containsEntry("worker.run_seconds_count", 5.0)
        .containsEntry("worker.queue_wait_seconds_count", 5.0)
        .containsEntry("worker.duplicate_skips_total", 0.0)
        .containsEntry("worker.late_results_total", 0.0);
    assertThat(worker.metrics().value(Metrics.HEARTBEATS)).isPositive();
    assertThat(worker.metrics().snapshot().get("worker.run_seconds_sum")).isGreaterThan(0.5);
  }

  @Test
  void a_job_that_another_worker_claimed_first_is_a_failed_acquisition() {
    Worker first = start(worker().poll(NEVER).handle("echo", Json.class, (p, context) -> p));
    Worker second = start(worker().poll(NEVER).handle("echo", Json.class, (p, context) -> p));
    // Both have looked once, because they have begun to listen.
    until(() -> failedAcquisitions(first) >= 1 && failedAcquisitions(second) >= 1);
    long before = failedAcquisitions(first) + failedAcquisitions(second);
    await(enqueue(Job.of("echo")), JobState.SUCCEEDED);
    until(() -> failedAcquisitions(first) + failedAcquisitions(second) > before);
  }

  private static long failedAcquisitions(Worker worker) {
    return worker.metrics().value(Metrics.ACQUIRE_FAILS);
  }
}
