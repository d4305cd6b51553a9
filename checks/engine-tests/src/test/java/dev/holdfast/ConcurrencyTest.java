package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConcurrencyTest extends LibraryTest {
  private final AtomicInteger now = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final Semaphore goOn = new Semaphore(0);
  private volatile double load = 1.0;

  /** Measures how many handlers are inside at once; each waits for its turn to leave. */
  private final Handler<Json> measured =
      (payload, context) -> {
        most.accumulateAndGet(now.incrementAndGet(), Math::max);
        try {
          goOn.acquire();
        } finally {
          now.decrementAndGet();
        }
        return null;
      };

  private List<JobId> enqueue(int count, Job... like) {
    List<JobId> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ids.add(enqueue(like[i % like.length].id(JobId.next())));
    }
    return ids;
  }

  @Test
  void no_more_jobs_run_concurrently_than_the_limit() {
    List<JobId> jobs = enqueue(40, Job.of("measured"));
    Worker worker = start(worker().concurrency(5).handle("measured", Json.class, measured));
    until(() -> now.get() == 5);
    assertThat(worker.metrics().value(Metrics.INFLIGHT)).isEqualTo(5);
    goOn.release(40);
    jobs.forEach(id -> await(id, JobState.SUCCEEDED));
    assertThat(most).hasValue(5);
    until(() -> worker.metrics().value(Metrics.INFLIGHT) == 0);
  }

  @Test
  void the_limit_of_a_queue_holds_over_all_workers() {
    holdfast.admin().limit("narrow", 3);
    List<JobId> jobs = enqueue(12, Job.of("measured").queue("narrow"));
    for (int i = 0; i < 3; i++) {
      start(worker("narrow").concurrency(5).handle("measured", Json.class, measured));
    }
    until(() -> now.get() == 3);
    goOn.release(12);
    jobs.forEach(id -> await(id, JobState.SUCCEEDED));
    assertThat(most).hasValue(3);
  }

  @Test
  void the_limit_of_a_key_holds_over_all_workers() {
    List<JobId> jobs =
        enqueue(
            12,
            Job.of("measured").concurrencyKey("customer-1", 1),
            Job.of("measured").concurrencyKey("customer-2", 1));
    for (int i = 0; i < 2; i++) {
      start(worker().concurrency(5).handle("measured", Json.class, measured));
    }
    until(() -> now.get() == 2);
    goOn.release(12);
    jobs.forEach(id -> await(id, JobState.SUCCEEDED));
    assertThat(most).hasValue(2);
  }

  @Test
  void a_worker_with_one_slot_runs_jobs_by_priority_and_then_by_age() {
    List<JobId> expected = new ArrayList<>();
    List<Integer> priorities = new ArrayList<>(IntStream.rangeClosed(0, 9).boxed().toList());
    priorities.forEach(
        priority -> {
          expected.add(JobId.next());
          expected.add(JobId.next());
        });
    List<Integer> shuffled = new ArrayList<>(priorities);
    Collections.shuffle(shuffled);
    for (int turn = 0; turn < 2; turn++) {
      for (int priority : shuffled) {
        enqueue(Job.of("ordered").priority(priority).id(expected.get(2 * priority + turn)));
      }
    }
    List<JobId> ran = new ArrayList<>();
    worker()
        .concurrency(1)
        .handle("ordered", Json.class, (payload, context) -> ran.add(context.id()))
        .drain();
    assertThat(ran).isEqualTo(expected);
  }

  @Test
  void queues_of_one_worker_take_turns() {
    enqueue(30, Job.of("noted").queue("left"), Job.of("noted").queue("right"));
    List<String> ran = Collections.synchronizedList(new ArrayList<>());
    worker("left", "right")
        .concurrency(1)
        .handle("noted", Json.class, (payload, context) -> ran.add(context.job().queue()))
        .drain();
    assertThat(ran).hasSize(30);
    assertThat(ran.subList(0, 10)).filteredOn("left"::equals).hasSize(5);
  }

  @Test
  void a_full_queue_does_not_starve_another_of_the_same_worker() {
    enqueue(200, Job.of("noted").queue("full"));
    JobId lone = enqueue(Job.of("noted").queue("quiet"));
    List<JobId> ran = Collections.synchronizedList(new ArrayList<>());
    worker("full", "quiet")
        .concurrency(2)
        .handle("noted", Json.class, (payload, context) -> ran.add(context.id()))
        .drain();
    assertThat(ran.indexOf(lone)).isBetween(0, 10);
  }

  @Test
  void a_busy_machine_with_a_long_queue_pauses_claims_until_the_load_drops() {
    enqueue(20, Job.of("measured"));
    goOn.release(100);
    Worker worker =
        start(
            worker()
                .concurrency(2)
                .backpressure(
                    new Backpressure.Settings(10L, 0.8, Duration.ofMillis(100), () -> load))
                .handle("measured", Json.class, measured));
    until(() -> worker.metrics().value(Metrics.PAUSES) >= 3);
    assertThat(most).hasValue(0);
    load = 0.1;
    until(() -> db.count("SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'") == 20);
  }

  @Test
  void a_slot_is_free_again_once_its_job_is_settled() {
    CountDownLatch both = new CountDownLatch(2);
    List<JobId> jobs = enqueue(2, Job.of("quick"));
    start(
        worker()
            .concurrency(1)
            .poll(NEVER)
            .handle(
                "quick",
                Json.class,
                (payload, context) -> {
                  both.countDown();
                  return null;
                }));
    until(both);
    jobs.forEach(id -> await(id, JobState.SUCCEEDED));
  }
}
