package dev.holdfast.queue.jdbc;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.enqueue.Enqueue;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UniqueKeyTest extends QueueFixture {
  private static final Unique ONLY_PENDING = Unique.by("k").in(Set.of(JobState.PENDING));

  private static Job unique() {
    return job().uniqueKey("k");
  }

  private void assertHeldBy(JobId holder) {
    Job other = unique();
    assertThat(queue.enqueue(other)).isEqualTo(new Enqueued(holder, true));
    assertThat(queries.find(other.id())).isEmpty();
  }

  private JobId assertFree() {
    Enqueued enqueued = queue.enqueue(unique());
    assertThat(enqueued.duplicate()).isFalse();
    return enqueued.id();
  }

  @Test
  void a_second_job_with_the_key_is_a_duplicate_of_the_first() {
    JobId first = add(unique());
    assertHeldBy(first);
    assertHeldBy(first);
    assertThat(count(JobState.PENDING)).isEqualTo(1);
  }

  @Test
  void the_key_is_held_while_the_job_runs_and_waits_for_a_retry() {
    Lease lease = addAndClaim(unique());
    assertHeldBy(lease.job());
    queue.settle(new Settlement.Fail(lease, FLAKY, Duration.ofHours(1)));
    assertThat(state(lease.job())).isEqualTo(JobState.RETRYING);
    assertHeldBy(lease.job());
    comeDue(lease.job());
    maintenance.promote();
    assertHeldBy(lease.job());
    Lease second = claimOne();
    queue.settle(new Settlement.Release(second, false));
    assertHeldBy(lease.job());
  }

  @Test
  void the_key_is_free_once_the_job_has_succeeded() {
    queue.settle(succeed(addAndClaim(unique())));
    assertFree();
  }

  @Test
  void the_key_is_free_once_the_job_has_failed() {
    queue.settle(fail(addAndClaim(unique()), HOPELESS));
    assertFree();
  }

  @Test
  void the_key_is_free_once_the_job_was_cancelled() {
    queue.cancel(List.of(add(unique())), false, "x", Tenant.ANY);
    JobId second = assertFree();
    queue.settle(new Settlement.Cancel(claimOne(), null));
    assertThat(state(second)).isEqualTo(JobState.CANCELLED);
    assertFree();
  }

  @Test
  void the_key_is_free_once_the_job_timed_out_or_became_toxic() {
    JobId late = add(unique());
    set(late, "deadline = now() - interval '1 s'");
    maintenance.expire();
    assertThat(state(late)).isEqualTo(JobState.FAILED);
    Lease toxic = addAndClaim(unique().maxCrashes(0));
    expire(toxic);
    maintenance.reap(Duration.ZERO);
    assertThat(state(toxic.job())).isEqualTo(JobState.FAILED);
    assertFree();
  }

  @Test
  void a_key_held_in_terminal_states_is_free_once_the_job_is_deleted() {
    Unique forEver = Unique.by("k").in(EnumSet.allOf(JobState.class));
    Lease lease = addAndClaim(job().unique(forEver));
    queue.settle(succeed(lease));
    assertHeldBy(lease.job());
    set(lease.job(), "finished_at = finished_at - interval '1 day'");
    maintenance.retain(JobState.SUCCEEDED, Duration.ofHours(1));
    assertFree();
  }

  @Test
  void a_key_held_while_pending_is_free_at_the_claim_and_never_reacquired() {
    Lease first = addAndClaim(job().unique(ONLY_PENDING));
    JobId second = queue.enqueue(job().unique(ONLY_PENDING)).id();
    assertThat(second).isNotEqualTo(first.job());

    // Every way back into the queue, while another job holds the key.
    queue.settle(new Settlement.Release(first, false));
    assertThat(state(first.job())).isEqualTo(JobState.PENDING);
    assertThat(queue.enqueue(job().unique(ONLY_PENDING))).isEqualTo(new Enqueued(second, true));

    Lease again = claimOne();
    assertThat(again).isEqualTo(new Lease(first.job(), 2));
    expire(again);
    assertThat(maintenance.reap(Duration.ZERO).requeued()).containsExactly(first.job());
    Lease third = claimOne();
    queue.settle(new Settlement.Snooze(third, Duration.ZERO));
    Lease fourth =
        claim(2).stream()
            .map(j -> j.lease())
            .filter(l -> l.job().equals(first.job()))
            .findFirst()
            .orElseThrow();
    queue.settle(fail(fourth, FLAKY));
    maintenance.promote();
    assertThat(state(first.job())).isEqualTo(JobState.PENDING);
    queue.cancel(List.of(first.job()), false, "x", Tenant.ANY);
    JobId holder = queue.enqueue(job().unique(ONLY_PENDING)).id();
    assertThat(queue.retry(List.of(first.job()), Tenant.ANY)).containsExactly(first.job());
    assertThat(queue.enqueue(job().unique(ONLY_PENDING))).isEqualTo(new Enqueued(holder, true));
  }

  @Test
  void a_retried_job_does_not_reacquire_its_key() {
    Lease lease = addAndClaim(unique());
    queue.settle(fail(lease, HOPELESS));
    JobId second = assertFree();
    queue.retry(List.of(lease.job()), Tenant.ANY);
    assertThat(state(lease.job())).isEqualTo(JobState.PENDING);
    assertHeldBy(second);
  }

  @Test
  void a_key_with_a_time_window_is_free_when_the_window_has_passed() {
    JobId first = add(job().unique(Unique.by("k").within(Duration.ofHours(1))));
    assertHeldBy(first);
    set(first, "unique_until = now() - interval '1 ms'");
    JobId second = assertFree();
    assertThat(state(first)).isEqualTo(JobState.PENDING);
    assertHeldBy(second);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 1})
  void a_time_window_begins_with_the_enqueue_whenever_the_job_is_to_run(int days) {
    Unique unique = Unique.by("k").within(Duration.ofHours(1));
    JobId first = add(job().unique(unique).runAt(Instant.now().plus(Duration.ofDays(days))));
    assertHeldBy(first);
    set(first, "unique_until = unique_until - interval '59 minutes'");
    assertHeldBy(first);
    set(first, "unique_until = unique_until - interval '1 minute'");
    assertFree();
  }

  @Test
  void a_key_with_a_time_window_is_free_once_the_job_leaves_its_states() {
    JobId first = add(job().unique(Unique.by("k").within(Duration.ofHours(1))));
    queue.settle(succeed(claimOne()));
    assertThat(state(first)).isEqualTo(JobState.SUCCEEDED);
    assertFree();
  }

  @Test
  void tenants_kinds_and_other_keys_do_not_collide() {
    List<Job> different =
        List.of(
            unique(),
            job().uniqueKey("K"),
            job().uniqueKey("k "),
            unique().owner("acme", "default"),
            Job.of("other").uniqueKey("k"));
    assertThat(queue.enqueue(different)).extracting(Enqueued::duplicate).containsOnly(false);
  }

  @Test
  void queues_and_workspaces_share_a_key() {
    JobId first = add(unique());
    assertThat(queue.enqueue(unique().queue("other"))).isEqualTo(new Enqueued(first, true));
    assertThat(queue.enqueue(unique().owner("default", "blue")))
        .isEqualTo(new Enqueued(first, true));
  }

  @Test
  void within_one_batch_the_first_job_has_the_key_and_the_others_are_duplicates() {
    List<Job> jobs = List.of(unique(), job(), unique(), unique());
    JobId first = jobs.getFirst().id();
    assertThat(queue.enqueue(jobs))
        .containsExactly(
            new Enqueued(first, false),
            new Enqueued(jobs.get(1).id(), false),
            new Enqueued(first, true),
            new Enqueued(first, true));
    assertThat(count(JobState.PENDING)).isEqualTo(2);
  }

  @Test
  void a_repeated_enqueue_after_the_job_has_ended_returns_that_job() {
    Job job = unique();
    queue.settle(succeed(addAndClaim(job)));
    assertThat(queue.enqueue(job)).isEqualTo(new Enqueued(job.id(), false));
    assertThat(count(JobState.PENDING)).isZero();
  }

  @Test
  void sixteen_concurrent_enqueues_with_one_key_make_one_job() {
    for (int round = 0; round < 10; round++) {
      String key = "round-" + round;
      List<Enqueued> answers = Parallel.run(16, i -> () -> queue.enqueue(job().uniqueKey(key)));
      assertThat(answers.stream().map(Enqueued::id).distinct()).hasSize(1);
      assertThat(answers.stream().filter(answer -> !answer.duplicate())).hasSize(1);
    }
    assertThat(count(JobState.PENDING)).isEqualTo(10);
  }

  @Test
  void an_enqueue_waits_for_the_transaction_that_is_taking_its_key() throws Exception {
    try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
      assertThat(beside(pool, true).duplicate()).isFalse();
      db.sql("DELETE FROM holdfast.job");
      assertThat(beside(pool, false).duplicate()).isTrue();
    }
  }

  private Enqueued beside(ExecutorService pool, boolean rollback) throws SQLException {
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      queue.enqueue(connection, List.of(unique()));
      Future<Enqueued> other = pool.submit(() -> queue.enqueue(unique()));
      awaitLockWait();
      if (rollback) {
        connection.rollback();
      } else {
        connection.commit();
      }
      return Parallel.get(other);
    }
  }

  @Test
  void batches_with_the_same_keys_in_opposite_orders_do_not_deadlock() {
    int rounds = 200;
    CyclicBarrier together = new CyclicBarrier(2);
    Parallel.run(
        2,
        i ->
            () -> {
              // Not the queue's own transaction, which would try again after a deadlock.
              try (Connection connection = db.connection()) {
                connection.setAutoCommit(false);
                for (int round = 0; round < rounds; round++) {
                  List<Job> batch = batch("r" + round, i == 1);
                  together.await(SOON.toSeconds(), TimeUnit.SECONDS);
                  queue.enqueue(connection, batch);
                  connection.commit();
                }
              }
              return true;
            });
    assertThat(count(JobState.PENDING)).isEqualTo(rounds * 8L);
  }

  /** Half of the keys are the same text in two kinds or for two tenants, which are two keys. */
  private static List<Job> batch(String round, boolean backwards) {
    List<String> kinds = backwards ? List.of("b", "a") : List.of("a", "b");
    List<Job> batch = new ArrayList<>();
    for (String key : backwards ? List.of("y", "x") : List.of("x", "y")) {
      for (String kind : kinds) {
        for (String tenant : kinds) {
          batch.add(Job.of(kind).owner(tenant, "default").uniqueKey(round + key));
        }
      }
    }
    return batch;
  }

  @Test
  void an_enqueue_waits_for_a_key_of_an_open_transaction_and_is_then_refused() throws Exception {
    try (Connection open = db.dataSource().getConnection()) {
      open.setAutoCommit(false);
      JobId first = queue.enqueue(open, List.of(unique())).getFirst().id();
      long asked = System.nanoTime();
      assertHeld(() -> queue.enqueue(unique()))
          .hasMessageContaining("unique key 'k' of kind 'test'")
          .hasMessageContaining("another open transaction")
          .hasMessageContaining("try again once that transaction has ended");
      assertThat(Duration.ofNanos(System.nanoTime() - asked))
          .isGreaterThanOrEqualTo(Enqueue.KEY_LOCK_TIMEOUT);
      assertThat(db.count("SELECT count(*) FROM holdfast.job")).isZero();
      open.commit();
      assertHeldBy(first);
    }
  }

  @Test
  void batches_and_callers_transactions_are_refused_after_their_lock_timeout() throws Exception {
    DataSource impatient = db.dataSource(db.url() + "?options=-c%20lock_timeout=50", 3);
    try (Connection open = db.dataSource().getConnection();
        JobStore other = new JobStore(impatient, new JacksonCodec(), JobStore.Options.DEFAULT);
        Connection callers = impatient.getConnection()) {
      open.setAutoCommit(false);
      queue.enqueue(open, List.of(unique()));
      assertHeld(() -> other.jobs().enqueue(List.of(job(), unique(), job().uniqueKey("z"))))
          .hasMessageContaining("one of these 2 unique keys, 'k' … 'z'");
      assertHeld(() -> other.jobs().enqueueOnce("default", "once", "digest", List.of(unique())));
      callers.setAutoCommit(false);
      assertHeld(() -> other.jobs().enqueue(callers, List.of(unique())));
      callers.rollback();
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isZero();
  }

  @Test
  void the_limit_on_the_wait_is_not_left_behind_in_a_callers_transaction() throws Exception {
    try (Connection connection = db.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      queue.enqueue(connection, List.of(unique()));
      assertThat(Sql.of("SHOW lock_timeout").on(connection).list(row -> row.getString(1)))
          .containsExactly("0");
      connection.rollback();
    }
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertHeld(ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            DatabaseException.class,
            held -> {
              assertThat(held.reason()).isEqualTo(DatabaseException.Reason.UNIQUE_KEY_HELD);
              assertThat(held.isTransient()).isTrue();
              assertThat(held.isOutage()).isFalse();
            });
  }
}
