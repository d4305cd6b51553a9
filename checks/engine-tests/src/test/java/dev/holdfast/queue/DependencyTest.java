package dev.holdfast.queue;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.WhenDependencyFails;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.StatementObserver;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DependencyTest extends QueueFixture {
  @Test
  void a_job_waits_until_all_its_dependencies_have_succeeded() {
    Job one = job().priority(0);
    Job two = job().priority(1);
    Job last = job().dependsOn(one.id(), two.id());
    queue.enqueue(List.of(last, one, two));
    assertThat(state(last.id())).isEqualTo(JobState.WAITING);

    queue.settle(succeed(claimOne()));
    assertThat(maintenance.promote()).isZero();
    Lease second = claimOne();
    assertThat(second.job()).isEqualTo(two.id());
    assertThat(claim(1)).isEmpty();
    queue.settle(succeed(second));

    assertThat(claimOne().job()).as("claimed without being promoted first").isEqualTo(last.id());
    assertThat(events(last.id())).containsExactly("created", "processing");
  }

  @Test
  void the_end_of_a_job_frees_what_waits_for_it_without_a_claim_or_a_sweep() {
    Lease first = running();
    JobId after = add(job().dependsOn(first.job()));
    queue.settle(succeed(first));
    await().until(() -> state(after) == JobState.PENDING);
  }

  @Test
  void a_chain_of_jobs_ends_at_once_when_the_first_fails() {
    Lease first = running();
    JobId second = add(job().dependsOn(first.job()));
    JobId third = add(job().dependsOn(second));
    queue.settle(fail(first, HOPELESS));
    await().until(() -> state(third) == JobState.CANCELLED);
  }

  @Test
  void a_chain_over_queues_ends_at_once_when_a_claim_ends_a_part_of_it() {
    JobId first = add(job().queue("first"));
    JobId second = add(job().dependsOn(first));
    JobId third = add(job().queue("third").dependsOn(second));
    // As if the process had died after the commit.
    set(first, "state = 'CANCELLED', finished_at = now()");
    assertThat(claim(1)).isEmpty();
    assertThat(state(second)).isEqualTo(JobState.CANCELLED);
    await().until(() -> state(third) == JobState.CANCELLED);
  }

  /**
   * @param before the verb of the claim that is the last before the commit
   */
  @ParameterizedTest
  @ValueSource(strings = {"claim", "probe", "wakeMissed"})
  void a_claim_finds_what_is_being_freed_beside_it(String before) throws Exception {
    db.sql(
        """
        CREATE FUNCTION public.hold_up() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END $$
        """);
    db.sql(
        """
        CREATE TRIGGER hold_up BEFORE UPDATE ON holdfast.job FOR EACH ROW
          WHEN (OLD.state = 'WAITING') EXECUTE FUNCTION public.hold_up()
        """);
    CountDownLatch freed = new CountDownLatch(1);
    Thread claiming = Thread.currentThread();
    try (Connection freezing = db.connection()) {
      StatementObserver observer =
          (verb, took, error) -> {
            if (Thread.currentThread() != claiming && verb.equals("unblock")) {
              freed.countDown();
            }
            if (Thread.currentThread() == claiming && verb.equals(before)) {
              unfreeze(freezing);
              awaitUninterruptibly(freed);
            }
          };
      JobStore observed =
          new JobStore(
              db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.observer(observer));
      try (observed) {
        Lease first = running();
        JobId after = add(job().dependsOn(first.job()));
        freezing.createStatement().execute("SELECT pg_advisory_lock(4711)");
        observed.jobs().settle(succeed(first));
        awaitLockWait();
        assertThat(observed.jobs().claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE)).jobs())
            .extracting(LeasedJob::id)
            .containsExactly(after);
      }
    } finally {
      db.sql("DROP FUNCTION public.hold_up() CASCADE");
    }
  }

  private static void unfreeze(Connection freezing) {
    try (Statement statement = freezing.createStatement()) {
      statement.execute("SELECT pg_advisory_unlock_all()");
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertThat(latch.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void a_job_may_depend_on_a_job_that_has_already_ended() {
    Lease done = running();
    queue.settle(succeed(done));
    JobId after = add(job().dependsOn(done.job()));
    assertThat(claimOne().job()).isEqualTo(after);
  }

  @ParameterizedTest
  @EnumSource
  void a_failed_dependency_is_handled_by_the_policy_of_the_job(WhenDependencyFails policy) {
    Lease first = running();
    JobId second = add(job().dependsOn(List.of(first.job()), policy));
    JobId third = add(job().dependsOn(List.of(second), policy));
    queue.settle(fail(first, HOPELESS));
    maintenance.promote();
    maintenance.promote();
    switch (policy) {
      case CANCEL -> {
        assertThat(state(second)).isEqualTo(JobState.CANCELLED);
        assertThat(state(third)).isEqualTo(JobState.CANCELLED);
        assertThat(queries.timeline(second).getLast().data().text())
            .contains(first.job().toString());
        assertThat(events(second)).containsExactly("created", "cancelled");
      }
      case FAIL -> {
        assertThat(state(second)).isEqualTo(JobState.FAILED);
        assertThat(state(third)).isEqualTo(JobState.FAILED);
        assertThat(failure(second).code()).isEqualTo(Failure.DEPENDENCY_FAILED);
        assertThat(events(second)).containsExactly("created", "failed");
      }
      case RUN -> {
        assertThat(state(second)).isEqualTo(JobState.PENDING);
        assertThat(state(third)).isEqualTo(JobState.WAITING);
      }
    }
  }

  @Test
  void one_failed_dependency_is_enough_while_others_still_run() {
    Lease failing = running();
    Lease slow = running();
    JobId after = add(job().dependsOn(failing.job(), slow.job()));
    JobId patient =
        add(job().dependsOn(List.of(failing.job(), slow.job()), WhenDependencyFails.RUN));
    queue.settle(fail(failing, HOPELESS));
    maintenance.promote();
    assertThat(state(after)).isEqualTo(JobState.CANCELLED);
    assertThat(state(patient)).isEqualTo(JobState.WAITING);
  }

  @Test
  void a_retry_of_a_dependency_is_not_its_failure() {
    Lease first = running();
    JobId after = add(job().dependsOn(first.job()));
    queue.settle(fail(first, FLAKY));
    maintenance.promote();
    assertThat(state(after)).isEqualTo(JobState.WAITING);
  }

  @Test
  void a_waiting_job_can_be_cancelled_and_can_pass_its_deadline() {
    JobId first = add(job());
    JobId cancelled = add(job().dependsOn(first));
    JobId late = add(job().dependsOn(first));
    queue.cancel(List.of(cancelled), false, "x", Tenant.ANY);
    set(late, "deadline = now() - interval '1 s'");
    maintenance.expire();
    assertThat(state(cancelled)).isEqualTo(JobState.CANCELLED);
    assertThat(failure(late).code()).isEqualTo(Failure.DEADLINE_EXCEEDED);
  }

  @Test
  void a_delay_counts_from_the_enqueue_also_for_a_job_that_waits() {
    Lease first = running();
    JobId after = add(job().dependsOn(first.job()).delay(Duration.ofHours(1)));
    queue.settle(succeed(first));
    assertThat(claim(1)).isEmpty();
    assertThat(state(after)).isEqualTo(JobState.PENDING);
    comeDue(after);
    assertThat(claimOne().job()).isEqualTo(after);
  }

  @Test
  void a_waiting_job_with_a_concurrency_key_is_claimed_after_its_dependency() {
    Lease first = running();
    JobId after = add(job().dependsOn(first.job()).concurrencyKey("k", 1));
    queue.settle(succeed(first));
    assertThat(claimOne().job()).isEqualTo(after);
  }

  @Test
  void a_dependency_that_does_not_exist_is_refused_and_nothing_is_written() {
    JobId missing = JobId.next();
    Job there = job();
    assertThatThrownBy(() -> queue.enqueue(List.of(there, job().dependsOn(there.id(), missing))))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.BAD_DEPENDENCY))
        .hasMessageContaining("depends on " + missing + ", which is not there");
    assertThat(count(JobState.PENDING)).isZero();
    assertThat(count(JobState.WAITING)).isZero();
  }

  @Test
  void an_enqueue_on_a_connection_without_a_transaction_is_still_all_or_nothing()
      throws SQLException {
    try (Connection connection = db.connection()) {
      assertRefused(
          Refusal.BAD_DEPENDENCY,
          () -> queue.enqueue(connection, List.of(job().dependsOn(JobId.next()))));
    }
    assertThat(count(JobState.WAITING)).isZero();
  }

  @Test
  void a_dependency_cycle_is_refused() {
    Job one = job();
    Job two = job().dependsOn(one.id());
    Job three = job().dependsOn(two.id());
    assertRefused(
        Refusal.BAD_DEPENDENCY,
        () -> queue.enqueue(List.of(one.dependsOn(three.id()), two, three)));
    assertThat(count(JobState.WAITING)).isZero();
  }

  @Test
  void a_dependency_on_a_duplicate_is_on_the_existing_job() {
    Lease holder = addAndClaim(job().uniqueKey("k"));
    Job duplicate = job().uniqueKey("k");
    Job after = job().dependsOn(duplicate.id());
    assertThat(queue.enqueue(List.of(duplicate, after)))
        .containsExactly(new Enqueued(holder.job(), true), new Enqueued(after.id(), false));
    assertThat(claim(1)).isEmpty();
    queue.settle(succeed(holder));
    assertThat(claimOne().job()).isEqualTo(after.id());
  }

  @Test
  void enqueueing_a_waiting_job_again_changes_nothing() {
    JobId first = add(job());
    Job after = job().dependsOn(first);
    queue.enqueue(after);
    assertThat(queue.enqueue(after)).isEqualTo(new Enqueued(after.id(), false));
    assertThat(state(after.id())).isEqualTo(JobState.WAITING);
    queue.settle(succeed(claimOne()));
    queue.settle(succeed(claimOne()));
    set(first, "finished_at = finished_at - interval '1 day'");
    assertThat(maintenance.retain(JobState.SUCCEEDED, Duration.ofHours(1))).isEqualTo(1);
    assertThat(queue.enqueue(after)).isEqualTo(new Enqueued(after.id(), false));
    assertThat(state(after.id())).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void concurrent_sweeps_release_each_waiting_job_once() {
    Lease first = running();
    List<Job> after = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      after.add(job().dependsOn(first.job()));
    }
    queue.enqueue(after);
    queue.settle(succeed(first));
    List<Integer> let = Parallel.run(4, i -> () -> maintenance.promote());
    // Some may have been released by the settle.
    assertThat(let.stream().mapToInt(Integer::intValue).sum()).isLessThanOrEqualTo(200);
    await().until(() -> count(JobState.PENDING) == 200);
  }

  @Test
  void more_waiting_jobs_than_one_batch_are_all_released() {
    Lease first = running();
    List<Job> after = new ArrayList<>();
    for (int i = 0; i < 1_500; i++) {
      after.add(job().dependsOn(first.job()));
    }
    queue.enqueue(after);
    queue.settle(succeed(first));
    maintenance.promote();
    await().until(() -> count(JobState.PENDING) == 1_500);
  }
}
