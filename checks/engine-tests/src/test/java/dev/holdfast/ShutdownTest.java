package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ShutdownTest extends LibraryTest {
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final AtomicInteger begun = new AtomicInteger();

  private WorkerBuilder waiting() {
    return worker()
        .concurrency(5)
        .handle(
            "wait",
            Json.class,
            (payload, context) -> {
              begun.incrementAndGet();
              if (context.lease().attempt() == 1) {
                goOn.await();
              }
              return "done";
            });
  }

  private static boolean isIn(Thread thread, String method) {
    return Stream.of(thread.getStackTrace()).anyMatch(at -> at.getMethodName().equals(method));
  }

  @Test
  void running_jobs_finish_and_no_new_one_starts() {
    List<JobId> running = IntStream.range(0, 5).mapToObj(i -> enqueue(Job.of("wait"))).toList();
    Worker worker = start(waiting().shutdownTimeout(NEVER));
    until(() -> begun.get() == 5);
    Thread closing = Thread.ofPlatform().start(worker::close);
    // Until then it may still claim.
    until(() -> isIn(closing, "awaitEmpty"));
    JobId late = enqueue(Job.of("wait"));
    goOn.countDown();
    until(() -> !closing.isAlive());
    assertThat(running)
        .allSatisfy(
            id -> {
              assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
              assertThat(job(id).attempt()).isEqualTo(1);
            });
    assertThat(job(late).state()).isEqualTo(JobState.PENDING);
    assertThat(begun).hasValue(5);
  }

  @Test
  void jobs_that_take_longer_are_released_at_once_without_using_budget() {
    JobId id = enqueue(Job.of("wait"));
    Worker worker = start(waiting().shutdownTimeout(Duration.ofMillis(200)));
    until(() -> begun.get() == 1);
    worker.close();
    JobStatus job = job(id);
    assertThat(job.state()).isEqualTo(JobState.PENDING);
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.failures()).isZero();
    assertThat(job.crashes()).isZero();
    assertThat(timeline(id)).containsExactly("created", "processing", "aborted:shutdown");
    assertThat(attempts(id)).containsExactly(AttemptOutcome.RELEASED);
    start(waiting());
    assertThat(await(id, JobState.SUCCEEDED).attempt()).isEqualTo(2);
  }

  @Test
  void a_handler_that_ignores_the_stop_is_released_too() {
    JobId id = enqueue(Job.of("deaf"));
    Worker worker =
        start(
            worker()
                .handle(
                    "deaf",
                    Json.class,
                    (payload, context) -> {
                      begun.incrementAndGet();
                      ignoreInterruptsWhile(() -> goOn.getCount() > 0);
                      return "late";
                    }));
    until(() -> begun.get() == 1);
    worker.close();
    assertThat(job(id).state()).isEqualTo(JobState.PENDING);
    goOn.countDown();
    assertThat(timeline(id)).endsWith("aborted:shutdown");
  }

  @Test
  void a_cancelled_job_is_cancelled_rather_than_released() {
    JobId id = enqueue(Job.of("deaf"));
    Worker worker =
        start(
            worker()
                .handle(
                    "deaf",
                    Json.class,
                    (payload, context) -> {
                      begun.incrementAndGet();
                      ignoreInterruptsWhile(() -> goOn.getCount() > 0);
                      return "late";
                    }));
    until(() -> begun.get() == 1);
    holdfast.cancel(id, "not needed");
    worker.close();
    goOn.countDown();
    assertThat(job(id).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void a_cancel_reaches_a_handler_during_the_shutdown() {
    JobId id = enqueue(Job.of("wait"));
    Worker worker = start(waiting().shutdownTimeout(NEVER));
    until(() -> begun.get() == 1);
    Thread stopping = Thread.ofPlatform().start(worker::close);
    // For its jobs: all else that it waits for is over in seconds.
    until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
    holdfast.cancel(id, "not needed");
    assertThat(await(id, JobState.CANCELLED).attempt()).isEqualTo(1);
    until(() -> !stopping.isAlive());
  }

  @Test
  void an_idle_worker_stops_quickly_and_may_be_closed_twice() {
    Worker worker = start(waiting().shutdownTimeout(NEVER));
    goOn.countDown();
    await(enqueue(Job.of("wait")), JobState.SUCCEEDED);
    long start = System.nanoTime();
    worker.close();
    worker.close();
    assertThat(since(start)).isLessThan(Duration.ofSeconds(30));
  }

  @Test
  void redeploys_under_load_lose_no_job_and_repeat_no_finished_one() {
    Map<JobId, AtomicInteger> finished = new ConcurrentHashMap<>();
    List<Job> jobs = IntStream.range(0, 400).mapToObj(i -> Job.of("work")).toList();
    holdfast.enqueue(jobs);
    WorkerBuilder builder =
        worker()
            .concurrency(10)
            .shutdownTimeout(Duration.ofMillis(20))
            .handle(
                "work",
                Json.class,
                (payload, context) -> {
                  Thread.sleep(Duration.ofMillis(10));
                  finished
                      .computeIfAbsent(context.id(), id -> new AtomicInteger())
                      .incrementAndGet();
                  return null;
                });
    int deployed = 0;
    while (finished.size() < 300) {
      int before = finished.size();
      Worker worker = builder.start();
      deployed++;
      until(() -> finished.size() >= Math.min(400, before + 60));
      worker.close();
    }
    start(builder);
    jobs.forEach(job -> await(job.id(), JobState.SUCCEEDED));
    assertThat(deployed).isGreaterThanOrEqualTo(3);
    assertThat(finished).hasSize(400);
    assertThat(finished.values()).allSatisfy(times -> assertThat(times).hasValue(1));
    assertThat(jobs)
        .allSatisfy(
            job -> {
              assertThat(job(job.id()).crashes()).isZero();
              assertThat(job(job.id()).failures()).isZero();
            });
  }
}
