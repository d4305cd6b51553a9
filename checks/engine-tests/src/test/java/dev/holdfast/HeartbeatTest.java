package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.source.Metrics;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

@Execution(ExecutionMode.CONCURRENT)
class HeartbeatTest extends LibraryTest {
  private static final Duration LONGER_THAN_A_LEASE = QUICK.lease().multipliedBy(5).dividedBy(4);

  private final CountDownLatch goOn = new CountDownLatch(1);

  private void assertNeverTakenAway(JobId id) {
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.crashes()).isZero();
    assertThat(timeline(id)).doesNotContain("requeued:stale");
  }

  /** As the database has it, so many of them. */
  private void untilHeartbeats(JobId id, int count) {
    Set<Instant> ends = new HashSet<>();
    until(
        () -> {
          ends.add(Objects.requireNonNull(job(id).leaseExpiresAt()));
          return ends.size() > count;
        });
  }

  @Test
  void a_job_that_takes_longer_than_a_lease_keeps_it() {
    startReaper(QUICK);
    JobId id = enqueue(Job.of("long"));
    Worker worker =
        start(
            worker()
                .timings(QUICK)
                .handle(
                    "long",
                    Json.class,
                    (payload, context) -> {
                      Thread.sleep(LONGER_THAN_A_LEASE);
                      return null;
                    }));
    Instant first = await(id, JobState.RUNNING).leaseExpiresAt();
    until(() -> !Objects.equals(job(id).leaseExpiresAt(), first));
    assertThat(job(id).leaseExpiresAt()).isAfter(first);
    assertNeverTakenAway(id);
    assertThat(worker.metrics().value(Metrics.HEARTBEATS)).isGreaterThanOrEqualTo(5);
  }

  @Test
  @OnlyDirect("such a worker shares no pool with its handlers")
  void heartbeats_continue_while_handlers_hold_every_connection_of_the_pool() {
    startReaper(QUICK);
    HikariDataSource small = pool(db.url(), 4);
    Holdfast library = closing(Holdfast.on(small));
    CountDownLatch holding = new CountDownLatch(2);
    List<JobId> jobs = List.of(enqueue(Job.of("greedy")), enqueue(Job.of("greedy")));
    start(
        workerOf(library)
            .concurrency(2)
            .timings(QUICK)
            .handle(
                "greedy",
                Json.class,
                (payload, context) -> {
                  try (Connection connection = small.getConnection()) {
                    holding.countDown();
                    goOn.await();
                    return connection.isValid(1);
                  }
                }));
    until(holding);
    // The worker's own statements come and go between its two that stay, of leases and
    // notifications.
    until(() -> small.getHikariPoolMXBean().getIdleConnections() == 0);
    jobs.forEach(id -> untilHeartbeats(id, 5));
    goOn.countDown();
    jobs.forEach(this::assertNeverTakenAway);
  }

  @Test
  @OnlyDirect("the server shares this process, and its virtual threads, with the handlers")
  void heartbeats_continue_while_handlers_compute_on_every_core() {
    startReaper(QUICK);
    int cores = Runtime.getRuntime().availableProcessors();
    List<JobId> jobs = IntStream.range(0, cores).mapToObj(i -> enqueue(Job.of("compute"))).toList();
    CountDownLatch allAtIt = new CountDownLatch(cores);
    start(
        worker()
            .concurrency(cores)
            .timings(QUICK)
            .handle(
                "compute",
                Json.class,
                (payload, context) -> {
                  allAtIt.countDown();
                  long n = 0;
                  while (goOn.getCount() > 0) {
                    n++;
                  }
                  return n;
                }));
    until(allAtIt);
    jobs.forEach(id -> untilHeartbeats(id, 5));
    goOn.countDown();
    jobs.forEach(this::assertNeverTakenAway);
  }

  @Test
  @ResourceLock(CapturedLog.OF_OUTAGES)
  void failing_heartbeats_log_one_warning_and_their_recovery_one_notice() throws Exception {
    FaultProxy proxy = closing(FaultProxy.before(db));
    Holdfast library = closing(Holdfast.on(pool(proxy.url(db), 5)));
    CountDownLatch begun = new CountDownLatch(1);
    JobId id = enqueue(Job.of("long"));
    start(
        workerOf(library)
            .timings(QUICK)
            .handle(
                "long",
                Json.class,
                (payload, context) -> {
                  begun.countDown();
                  goOn.await();
                  return null;
                }));
    // Begun and not only claimed: cut off before the claim's response, it would have no lease.
    begun.await();
    try (CapturedLog log = new CapturedLog()) {
      proxy.cut();
      until(() -> !log.lines(Level.WARN, "HEARTBEAT_DEGRADED").isEmpty());
      assertThat(log.lines(Level.INFO, "HEARTBEAT_RECOVERED")).isEmpty();
      proxy.mend();
      until(() -> !log.lines(Level.INFO, "HEARTBEAT_RECOVERED").isEmpty());
      TimeUnit.MILLISECONDS.sleep(2 * QUICK.heartbeat().toMillis());
      assertThat(log.lines(Level.WARN, "HEARTBEAT_DEGRADED")).hasSize(1);
      assertThat(log.lines(Level.INFO, "HEARTBEAT_RECOVERED")).hasSize(1);
    }
    goOn.countDown();
    assertNeverTakenAway(id);
  }
}
