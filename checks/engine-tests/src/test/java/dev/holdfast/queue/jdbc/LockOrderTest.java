package dev.holdfast.queue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.batch.OnConnection;
import dev.holdfast.queue.command.Retry;
import dev.holdfast.queue.recover.Expire;
import dev.holdfast.queue.recover.Reap;
import dev.holdfast.queue.report.AppendEvents;
import dev.holdfast.queue.settle.Fail;
import dev.holdfast.queue.settle.ReleaseAttempts;
import dev.holdfast.queue.settle.Succeed;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Concurrent statements that lock many rows: no deadlock, no starvation. */
class LockOrderTest extends QueueFixture {
  @Test
  void settling_overlapping_batches_in_opposite_orders_never_deadlocks() {
    for (int round = 0; round < 200; round++) {
      queue.enqueue(jobs(20));
      List<Lease> there = claim(20).stream().map(LeasedJob::lease).toList();
      List<Lease> back = new ArrayList<>(there);
      Collections.reverse(back);
      int kind = round % 3;
      // On connections of their own, because the queue would try again after a deadlock.
      List<Set<Lease>> settled =
          Parallel.run(
              4,
              i ->
                  () -> {
                    try (Connection connection = db.dataSource().getConnection()) {
                      return switch (i) {
                        case 3 -> {
                          List<JobId> jobs =
                              (kind == 0 ? there : back).stream().map(Lease::job).toList();
                          OnConnection.cancel(connection, jobs, kind == 1);
                          yield Set.of();
                        }
                        case 0 ->
                            Succeed.all(
                                connection, there.stream().map(QueueFixture::succeed).toList());
                        case 1 ->
                            kind == 0
                                ? Fail.all(
                                    connection,
                                    BACKOFF,
                                    back.stream().map(l -> fail(l, HOPELESS)).toList())
                                : ReleaseAttempts.cancelled(
                                    connection,
                                    back.stream()
                                        .map(l -> new Settlement.Cancel(l, null))
                                        .toList());
                        default -> {
                          OnConnection.heartbeat(connection, back, LEASE);
                          AppendEvents.all(
                              connection,
                              back.stream()
                                  .map(l -> (Report) new Report.Progress(l, 50, null))
                                  .toList());
                          yield Set.of();
                        }
                      };
                    }
                  });
      Set<Lease> all = new HashSet<>(settled.get(0));
      all.addAll(settled.get(1));
      assertThat(all).hasSize(20);
      assertThat(Collections.disjoint(settled.get(0), settled.get(1))).isTrue();
    }
    assertThat(count(JobState.RUNNING)).isZero();
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(4_000);
  }

  @Test
  void concurrent_sweeps_settles_cancels_and_heartbeats_never_fail() {
    queue.enqueue(jobs(400).stream().map(job -> job.maxAttempts(1_000).maxCrashes(1_000)).toList());
    Parallel.run(
        6,
        i ->
            () -> {
              for (int n = 0; n < 30; n++) {
                try (Connection connection = db.dataSource().getConnection()) {
                  switch (i) {
                    case 0 -> Reap.lost(connection, Duration.ZERO, 50);
                    case 1 -> Expire.late(connection, 50);
                    case 2 -> {
                      for (LeasedJob job :
                          queue.claim(new ClaimRequest(QUEUE, 20, "a", Duration.ZERO)).jobs()) {
                        OnConnection.cancel(connection, List.of(job.id()), true);
                      }
                    }
                    case 3 -> Retry.all(connection, ids(JobState.CANCELLED), Tenant.ANY);
                    default -> {
                      List<Lease> leases =
                          queue
                              .claim(new ClaimRequest(QUEUE, 20, "b" + i, Duration.ofMillis(1)))
                              .jobs()
                              .stream()
                              .map(LeasedJob::lease)
                              .toList();
                      OnConnection.heartbeat(connection, leases, Duration.ofMillis(1));
                      Fail.all(
                          connection, BACKOFF, leases.stream().map(l -> fail(l, FLAKY)).toList());
                    }
                  }
                }
              }
              return true;
            });
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(400);
    assertThat(
            db.count(
                "SELECT count(*) FROM (SELECT FROM holdfast.event"
                    + " GROUP BY job_id HAVING max(number) > (SELECT event_count FROM holdfast.job"
                    + " WHERE id = job_id)) AS beyond"))
        .isZero();
  }

  private List<JobId> ids(JobState state) {
    return queries.list(JobFilter.ALL.states(Set.of(state))).stream().map(job -> job.id()).toList();
  }

  @Test
  void a_hundred_threads_share_two_connections_and_none_starves() {
    try (JobStore small =
        new JobStore(
            db.dataSource(db.url(), 3),
            new JacksonCodec(),
            new JobStore.Options(2, StatementObserver.NONE))) {
      List<Integer> done =
          Parallel.run(
              100,
              i ->
                  () -> {
                    for (int n = 0; n < 5; n++) {
                      small.jobs().enqueue(job());
                    }
                    return 5;
                  });
      assertThat(done).hasSize(100);
    }
    assertThat(count(JobState.PENDING)).isEqualTo(500);
  }
}
