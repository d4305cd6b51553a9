package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.Ack;
import dev.holdfast.model.AttemptOutcome;
import dev.holdfast.model.EventType;
import dev.holdfast.model.Failure;
import dev.holdfast.model.HealthStatus;
import dev.holdfast.model.JobEvent;
import dev.holdfast.model.JobFilter;
import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import dev.holdfast.model.JobStatus;
import dev.holdfast.model.Json;
import dev.holdfast.model.LeasedJob;
import dev.holdfast.model.QueueStatus;
import dev.holdfast.model.Warnings;
import dev.holdfast.model.WorkerHealth;
import dev.holdfast.model.WorkerOrder;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.Assertions;
import org.assertj.core.data.TemporalUnitOffset;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Worker processes in the database: rows, fences, orders, and what a dead one leaves behind. */
class HealthTest extends QueueFixture {
  private static final String HERE = "here";
  private static final String TAG = "worker:tag:0";
  private static final Json DETAILS = new Json("{\"places\": 4}");

  private Health health;

  @BeforeEach
  void clear() {
    db.sql("TRUNCATE holdfast.health, holdfast.worker_order, holdfast.supervisor");
    health = queue.health();
  }

  private static Health.Place place(int incarnation) {
    return new Health.Place(HERE, TAG, incarnation);
  }

  private WorkerHealth row() {
    assertThat(health.of(HERE)).hasSize(1);
    return health.of(HERE).getFirst();
  }

  private void start(int incarnation) {
    health.starting(place(incarnation), incarnation - 1, false);
    health.spawned(place(incarnation), 4_711, Instant.EPOCH);
  }

  @Test
  void a_process_goes_from_starting_to_healthy_to_stopping() {
    start(1);
    assertThat(row().status()).isEqualTo(HealthStatus.STARTING);
    assertThat(row().pid()).isEqualTo(4_711);
    assertThat(row().processStartedAt()).isEqualTo(Instant.EPOCH);
    JobId job = JobId.next();
    assertThat(health.beat(place(1), HealthStatus.HEALTHY, 4_711, job, DETAILS)).isTrue();
    assertThat(row().status()).isEqualTo(HealthStatus.HEALTHY);
    assertThat(row().currentJob()).isEqualTo(job);
    assertThat(row().details().text()).contains("places");
    assertThat(row().silentFor()).isLessThan(Duration.ofSeconds(20));
    assertThat(row().queue()).isEqualTo("tag");
    assertThat(health.beat(place(1), HealthStatus.STOPPING, 4_711, null, DETAILS)).isTrue();
    // One that was under way when it was told to stop, and comes last.
    assertThat(health.beat(place(1), HealthStatus.HEALTHY, 4_711, null, DETAILS)).isTrue();
    assertThat(row().status()).isEqualTo(HealthStatus.STOPPING);
    health.ended(place(1), HealthStatus.STOPPING, 0, "stopped by ada: no need", null);
    assertThat(row().isStopped()).isTrue();
    assertThat(row().exitCode()).isZero();
    assertThat(row().nextRestart()).isNull();
  }

  @Test
  void a_crash_is_told_with_its_exit_code_and_the_next_start() {
    start(1);
    health.ended(place(1), HealthStatus.CRASHED, 137, "exit 137", Duration.ofSeconds(4));
    assertThat(row().status()).isEqualTo(HealthStatus.CRASHED);
    assertThat(row().pid()).isNull();
    assertThat(row().exitCode()).isEqualTo(137);
    assertThat(row().nextRestart())
        .isBetween(queue.now().minusSeconds(10), queue.now().plusSeconds(5));
    start(2);
    assertThat(row().restarts()).isEqualTo(1);
    assertThat(row().lastRestart()).isCloseTo(queue.now(), within());
    assertThat(row().exitCode()).isEqualTo(137);
    assertThat(row().reason()).isEqualTo("exit 137");
    health.beat(place(2), HealthStatus.HEALTHY, 4_712, null, DETAILS);
    assertThat(row().reason()).isNull();
    health.forgiven(place(2));
    assertThat(row().restarts()).isZero();
  }

  private static TemporalUnitOffset within() {
    return Assertions.within(20, ChronoUnit.SECONDS);
  }

  @Test
  void one_that_was_given_up_says_nothing_more() {
    start(1);
    health.ended(place(1), HealthStatus.CRASHED, null, "silent", Duration.ZERO);
    assertThat(health.beat(place(1), HealthStatus.HEALTHY, 1, null, DETAILS)).isFalse();
    assertThat(row().status()).isEqualTo(HealthStatus.CRASHED);
    start(2);
    assertThat(health.beat(place(1), HealthStatus.HEALTHY, 1, null, DETAILS)).isFalse();
    assertThat(row().status()).isEqualTo(HealthStatus.STARTING);
    assertThat(health.beat(place(2), HealthStatus.HEALTHY, 2, null, DETAILS)).isTrue();
  }

  @Test
  void of_one_name_there_is_one_supervisor_at_a_time() {
    Health.Supervising first = new Health.Supervising(HERE, "host", 1, Instant.EPOCH);
    Health.Supervising second = new Health.Supervising(HERE, "host", 2, Instant.EPOCH);
    assertThat(health.supervisor(HERE)).isEmpty();
    assertThat(health.appear(first)).isTrue();
    assertThat(health.appear(second)).isFalse();
    assertThat(health.supervisor(HERE).orElseThrow().supervising()).isEqualTo(first);
    assertThat(health.supervisor(HERE).orElseThrow().silentFor())
        .isLessThan(Duration.ofSeconds(20));
    assertThat(health.watching(first)).isTrue();
    assertThat(health.replace(first, second)).isTrue();
    assertThat(health.replace(first, second)).isFalse();
    assertThat(health.watching(first)).isFalse();
    start(1);
    health.leave(first);
    assertThat(health.of(HERE)).hasSize(1);
    health.leave(second);
    assertThat(health.of(HERE)).isEmpty();
    assertThat(health.supervisor(HERE)).isEmpty();
  }

  @Test
  void one_supervisor_clears_its_own_rows_only() {
    start(1);
    Health.Place there = new Health.Place("there", TAG, 1);
    health.starting(there, 0, false);
    health.clear(HERE);
    assertThat(health.of(HERE)).isEmpty();
    assertThat(health.all()).extracting(WorkerHealth::supervisor).containsExactly("there");
  }

  @Test
  void an_order_reaches_every_supervisor_that_has_such_a_worker_or_the_one_that_is_named() {
    start(1);
    health.starting(new Health.Place("there", TAG, 1), 0, false);
    assertThat(health.order("worker:none:0", null, WorkerOrder.Action.STOP, "ada", "why"))
        .isEmpty();
    assertThat(health.order(TAG, null, WorkerOrder.Action.PAUSE, "ada", "why")).hasSize(2);
    assertThat(health.order(TAG, "there", WorkerOrder.Action.RESUME, "ada", "why")).hasSize(1);
    List<WorkerOrder> open = health.open(HERE);
    assertThat(open).extracting(WorkerOrder::action).containsExactly(WorkerOrder.Action.PAUSE);
    assertThat(open.getFirst().requestedBy()).isEqualTo("ada");
    assertThat(health.inForce(HERE)).isEmpty();
    health.done(open.getFirst());
    assertThat(health.open(HERE)).isEmpty();
    assertThat(health.inForce(HERE))
        .extracting(WorkerOrder::action)
        .containsExactly(WorkerOrder.Action.PAUSE);
    assertThat(health.open("there")).hasSize(2);
  }

  @Test
  void what_is_asked_stays_in_force_when_old_orders_are_forgotten() {
    start(1);
    for (WorkerOrder.Action action : WorkerOrder.Action.values()) {
      health.order(TAG, null, action, "ada", "why");
    }
    health.open(HERE).forEach(health::done);
    db.sql("UPDATE holdfast.worker_order SET requested_at = requested_at - interval '31 days'");
    health.clear(HERE);
    assertThat(health.inForce(HERE))
        .extracting(WorkerOrder::action)
        .containsExactly(WorkerOrder.Action.STOP);
    assertThat(db.count("SELECT count(*) FROM holdfast.worker_order")).isEqualTo(1);
  }

  private String claimAs(long pid) {
    String worker = WorkerHealth.namePrefix(TAG, "host", pid) + "a1";
    queue.claim(QUEUE, 100, worker, LEASE);
    return worker;
  }

  @Test
  void what_a_dead_process_was_running_goes_back_at_once_with_the_crash_counted() {
    JobId job = add(job());
    claimAs(77);
    JobId other = add(job());
    claimAs(7);
    Swept swept = health.recover(WorkerHealth.namePrefix(TAG, "host", 77), "exit 137 (SIGKILL)");
    assertThat(swept.requeued()).containsExactly(job);
    assertThat(state(job)).isEqualTo(JobState.PENDING);
    assertThat(status(job).crashes()).isEqualTo(1);
    assertThat(state(other)).isEqualTo(JobState.RUNNING);
    assertThat(queue.attempts(job).getFirst().outcome()).isEqualTo(AttemptOutcome.CRASHED);
    Failure failure = Objects.requireNonNull(queue.attempts(job).getFirst().failure());
    assertThat(failure.code()).isEqualTo("WORKER_CRASHED");
    assertThat(failure.message()).contains("exit 137 (SIGKILL)");
    assertThat(queue.timeline(job))
        .extracting(JobEvent::type)
        .containsExactly(EventType.CREATED, EventType.PROCESSING, EventType.REQUEUED_STALE);
  }

  @Test
  void the_third_crash_of_a_job_makes_it_toxic() {
    JobId job = add(job());
    for (int pid = 1; pid <= 3; pid++) {
      assertThat(state(job)).isEqualTo(JobState.PENDING);
      claimAs(pid);
      health.recover(WorkerHealth.namePrefix(TAG, "host", pid), "exit 1");
    }
    assertThat(state(job)).isEqualTo(JobState.FAILED);
    assertThat(Objects.requireNonNull(status(job).failure()).code()).isEqualTo("TOXIC_JOB");
    // An operator is told, and finds it by that word.
    assertThat(queue.warnings(null, Duration.ZERO)).isEqualTo(new Warnings(1, 1, 0));
    assertThat(queue.page(JobFilter.ALL.text("toxic_job")).jobs())
        .extracting(JobStatus::id)
        .containsExactly(job);
  }

  @Test
  void suspects_of_one_crash_run_one_after_the_other_before_they_are_condemned() {
    List<JobId> jobs = jobs(3).stream().map(this::add).toList();
    claimAs(1);
    health.recover(WorkerHealth.namePrefix(TAG, "host", 1), "exit 1");
    claimAs(2);
    health.recover(WorkerHealth.namePrefix(TAG, "host", 2), "exit 1");
    List<LeasedJob> first = claim(10);
    assertThat(first).hasSize(1);
    assertThat(claim(10)).isEmpty();
    // This one is to blame; the others go on as if nothing had been.
    String toxic = WORKER;
    health.recover(toxic, "exit 1");
    assertThat(state(first.getFirst().id())).isEqualTo(JobState.FAILED);
    for (int i = 0; i < 2; i++) {
      List<LeasedJob> next = claim(10);
      assertThat(next).hasSize(1);
      assertThat(queue.settle(succeed(next.getFirst().lease()))).isEqualTo(Ack.ACCEPTED);
    }
    assertThat(jobs.stream().filter(id -> state(id) == JobState.SUCCEEDED)).hasSize(2);
    queue.retry(List.of(first.getFirst().id()));
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.job WHERE state = 'PENDING'"
                    + " AND concurrency_key IS NULL AND concurrency_limit IS NULL"))
        .isEqualTo(1);
  }

  @Test
  void a_key_of_its_own_is_not_taken_from_a_suspect() {
    for (int i = 0; i < 2; i++) {
      add(job().concurrencyKey("mine", 5).maxCrashes(1));
    }
    claimAs(1);
    health.recover(WorkerHealth.namePrefix(TAG, "host", 1), "exit 1");
    assertThat(claim(10)).hasSize(2);
  }

  @Test
  void all_queues_are_paused_at_once_and_resumed_at_once() {
    add(job());
    add(job().queue("other").concurrencyKey("key", 1));
    queue.pause("own");
    assertThat(queue.allPausedSince()).isEmpty();
    queue.pauseAll();
    assertThat(queue.allPausedSince()).isPresent();
    assertThat(claim(10)).isEmpty();
    assertThat(queue.claim("other", 10, WORKER, LEASE).jobs()).isEmpty();
    assertThat(queue.queues()).extracting(QueueStatus::name).doesNotContain("*");
    assertThat(queue.resumeAll()).isTrue();
    assertThat(queue.resumeAll()).isFalse();
    assertThat(claim(10)).hasSize(1);
    assertThat(queue.claim("other", 10, WORKER, LEASE).jobs()).hasSize(1);
    assertThat(queue.queues().stream().filter(q -> q.name().equals("own")).findFirst())
        .get()
        .satisfies(own -> assertThat(own.pausedAt()).isNotNull());
  }
}
