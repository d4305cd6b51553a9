package dev.holdfast.queue.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.recover.ReapResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a dead process leaves behind, and which of its jobs are suspects. */
class CrashedJobsTest extends WorkerRegistryFixture {
  private String claimAs(long pid) {
    String worker = WorkerHealth.namePrefix(TAG, "host", pid) + "a1";
    queue.claim(new ClaimRequest(QUEUE, 100, worker, LEASE));
    return worker;
  }

  @Test
  void jobs_of_a_dead_process_are_requeued_at_once_with_the_crash_counted() {
    JobId job = add(job());
    claimAs(77);
    JobId other = add(job());
    claimAs(7);
    ReapResult swept =
        health
            .recovery()
            .recover(HERE, WorkerHealth.namePrefix(TAG, "host", 77), "exit 137 (SIGKILL)");
    assertThat(swept.requeued()).containsExactly(job);
    assertThat(state(job)).isEqualTo(JobState.PENDING);
    assertThat(status(job).crashes()).isEqualTo(1);
    assertThat(state(other)).isEqualTo(JobState.RUNNING);
    assertThat(queries.attempts(job).getFirst().outcome()).isEqualTo(AttemptOutcome.CRASHED);
    Failure failure = Objects.requireNonNull(queries.attempts(job).getFirst().failure());
    assertThat(failure.code()).isEqualTo("WORKER_CRASHED");
    assertThat(failure.message()).contains("exit 137 (SIGKILL)");
    assertThat(queries.timeline(job))
        .extracting(JobEvent::type)
        .containsExactly(EventType.CREATED, EventType.PROCESSING, EventType.REQUEUED_STALE);
  }

  @Test
  void the_third_crash_of_a_job_makes_it_toxic() {
    JobId job = add(job());
    for (int pid = 1; pid <= 3; pid++) {
      assertThat(state(job)).isEqualTo(JobState.PENDING);
      claimAs(pid);
      health.recovery().recover(HERE, WorkerHealth.namePrefix(TAG, "host", pid), "exit 1");
    }
    assertThat(state(job)).isEqualTo(JobState.FAILED);
    assertThat(Objects.requireNonNull(status(job).failure()).code()).isEqualTo("TOXIC_JOB");
    // The warnings count it, and an operator finds it by that code.
    assertThat(queries.warnings(Tenant.ANY, Duration.ZERO))
        .isEqualTo(new Warnings(1, 1, 0, 0, List.of(), List.of()));
    assertThat(queries.page(JobFilter.ALL.text("toxic_job")).jobs())
        .extracting(JobStatus::id)
        .containsExactly(job);
  }

  @Test
  void what_waits_for_a_toxic_job_is_freed_at_once() {
    JobId job = add(job().maxCrashes(0));
    JobId after = add(job().queue("other").dependsOn(job));
    claimAs(1);
    health.recovery().recover(HERE, WorkerHealth.namePrefix(TAG, "host", 1), "exit 1");
    await().until(() -> state(after) == JobState.CANCELLED);
  }

  /** Claims as a process that dies when it runs one of these, and is started again as another. */
  private final class Mortal {
    private final Set<JobId> culprits;
    private final int places;
    private final List<LeasedJob> held = new ArrayList<>();
    private long pid;
    private int crashes;

    Mortal(long pid, int places, Set<JobId> culprits) {
      this.pid = pid;
      this.places = places;
      this.culprits = culprits;
    }

    private String prefix() {
      return WorkerHealth.namePrefix(TAG, "host", pid);
    }

    void turn() {
      held.addAll(
          queue
              .claim(new ClaimRequest(QUEUE, places - held.size(), prefix() + "a1", LEASE))
              .jobs());
      if (held.stream().anyMatch(job -> culprits.contains(job.id()))) {
        health.recovery().recover(HERE, prefix(), "exit 3");
        held.clear();
        pid += 1_000;
        crashes++;
      } else if (!held.isEmpty()) {
        // Not all of them at once, so that others join those that are left.
        List<LeasedJob> done = held.subList(0, (held.size() + 1) / 2);
        done.forEach(job -> assertThat(queue.settle(succeed(job.lease()))).isEqualTo(Ack.ACCEPTED));
        done.clear();
      }
    }
  }

  @Test
  void ten_crashing_jobs_among_a_hundred_fail_as_toxic_and_no_other_does() {
    List<JobId> jobs = queue.enqueue(jobs(100)).stream().map(Enqueued::id).toList();
    Set<JobId> culprits = new HashSet<>();
    for (int i = 3; i < 100; i += 10) {
      culprits.add(jobs.get(i));
    }
    List<Mortal> processes = List.of(new Mortal(1, 10, culprits), new Mortal(2, 10, culprits));
    for (int turn = 0; turn < 300; turn++) {
      processes.forEach(Mortal::turn);
    }
    assertThat(jobs.stream().filter(id -> state(id) == JobState.FAILED))
        .containsExactlyInAnyOrderElementsOf(culprits);
    assertThat(jobs.stream().filter(id -> state(id) == JobState.SUCCEEDED)).hasSize(90);
    // Each is allowed three, and some of them share one.
    assertThat(processes.stream().mapToInt(process -> process.crashes).sum())
        .isLessThanOrEqualTo(30);
  }

  @Test
  void two_crashing_jobs_beside_six_others_crash_the_process_four_times() {
    List<JobId> jobs = queue.enqueue(jobs(8)).stream().map(Enqueued::id).toList();
    Set<JobId> culprits = Set.of(jobs.get(2), jobs.get(5));
    Mortal process = new Mortal(1, 8, culprits);
    for (int turn = 0; turn < 30; turn++) {
      process.turn();
    }
    assertThat(jobs.stream().filter(id -> state(id) == JobState.FAILED))
        .containsExactlyInAnyOrderElementsOf(culprits);
    assertThat(jobs.stream().filter(id -> state(id) == JobState.SUCCEEDED)).hasSize(6);
    assertThat(process.crashes).isEqualTo(4);
  }

  private String workerOf(long pid) {
    return WorkerHealth.namePrefix(TAG, "host", pid) + "a1";
  }

  private List<LeasedJob> claimAs(long pid, int most) {
    return queue.claim(new ClaimRequest(QUEUE, most, workerOf(pid), LEASE)).jobs();
  }

  private void crash(long pid) {
    health.recovery().recover(HERE, WorkerHealth.namePrefix(TAG, "host", pid), "exit 1");
  }

  @Test
  void a_suspect_runs_alone_in_its_worker() {
    queue.enqueue(jobs(3));
    for (int pid = 1; pid <= 2; pid++) {
      assertThat(claimAs(pid, 10)).hasSize(3);
      crash(pid);
    }
    queue.enqueue(jobs(3));
    List<LeasedJob> suspect = claimAs(3, 10);
    assertThat(suspect).hasSize(1);
    // The worker gets no job of another queue either.
    add(job().queue("other"));
    assertThat(queue.claim(new ClaimRequest("other", 10, workerOf(3), LEASE)).jobs()).isEmpty();
    assertThat(claimAs(3, 10)).isEmpty();
    // Another process takes the next suspect, for itself as well.
    assertThat(claimAs(4, 10)).hasSize(1);
    assertThat(claimAs(4, 10)).isEmpty();
    crash(3);
    assertThat(state(suspect.getFirst().id())).isEqualTo(JobState.FAILED);
    assertThat(failure(suspect.getFirst().id()).message())
        .isEqualTo(
            "3 workers died running this job; the last was "
                + workerOf(3)
                + ", which ran nothing else");
    assertThat(claimAs(5, 10)).hasSize(1);
    assertThat(claimAs(6, 10)).hasSize(3);
    queue.retry(List.of(suspect.getFirst().id()), Tenant.ANY);
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.job WHERE state = 'PENDING' AND NOT isolated"
                    + " AND concurrency_key IS NULL AND concurrency_limit IS NULL AND queue = ?",
                QUEUE))
        .isEqualTo(1);
  }

  @Test
  void the_worker_with_the_fewest_jobs_drains_for_a_suspect() {
    JobId suspect = add(job().maxCrashes(1));
    queue.enqueue(jobs(5));
    claimAs(1, 1);
    crash(1);
    set(suspect, "run_at = run_at + interval '1 hour'");
    List<LeasedJob> few = claimAs(2, 1);
    claimAs(3, 2);
    comeDue(suspect);
    Claimed hold = queue.claim(new ClaimRequest(QUEUE, 10, workerOf(2), LEASE));
    assertThat(hold.jobs()).isEmpty();
    assertThat(hold.whenEmpty()).isTrue();
    assertThat(claimAs(3, 1)).hasSize(1);
    queue.settle(succeed(few.getFirst().lease()));
    assertThat(claimAs(2, 10)).extracting(LeasedJob::id).containsExactly(suspect);
  }

  @Test
  void a_suspect_keeps_its_concurrency_key_and_the_limit_holds() {
    for (int i = 0; i < 3; i++) {
      add(job().concurrencyKey("mine", 2).maxCrashes(1));
    }
    assertThat(claimAs(1, 10)).hasSize(2);
    crash(1);
    assertThat(claimAs(2, 10)).hasSize(1);
    assertThat(claimAs(3, 10)).hasSize(1);
    assertThat(claimAs(4, 10)).isEmpty();
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE concurrency_key = 'mine'"))
        .isEqualTo(3);
  }

  @Test
  void a_suspect_without_a_concurrency_key_gets_none() {
    JobId job = add(job().maxCrashes(1));
    claimAs(1, 1);
    crash(1);
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE isolated")).isEqualTo(1);
    assertThat(status(job).concurrencyKey()).isNull();
    assertThat(claimAs(2, 1)).extracting(LeasedJob::id).containsExactly(job);
  }

  @Test
  void a_retry_keeps_a_concurrency_key_with_the_prefix_crashed() {
    Lease lease = addAndClaim(job().concurrencyKey("crashed:orders", 2));
    queue.settle(fail(lease, HOPELESS));
    queue.retry(List.of(lease.job()), Tenant.ANY);
    assertThat(status(lease.job()).concurrencyKey()).isEqualTo("crashed:orders");
  }

  @Test
  void a_suspect_of_a_paused_or_full_queue_is_not_claimed() {
    add(job().maxCrashes(1));
    claimAs(1, 1);
    crash(1);
    admin.pause(QUEUE);
    assertThat(claimAs(2, 1)).isEmpty();
    admin.resume(QUEUE);
    admin.limit(QUEUE, 1);
    add(job().priority(0).concurrencyKey("other", 1));
    assertThat(claimAs(2, 1)).hasSize(1);
    assertThat(claimAs(3, 1)).isEmpty();
  }

  @Test
  void a_job_claimed_after_the_crash_is_no_suspect() {
    JobId other = add(job());
    claimAs(1, 1);
    crash(1);
    set(other, "run_at = run_at + interval '1 hour'");
    JobId late = add(job().maxCrashes(1));
    set(late, "crashes = 1");
    claimAs(1, 1);
    crash(1);
    assertThat(state(late)).isEqualTo(JobState.PENDING);
  }
}
