package dev.holdfast.queue.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.attempt.WaitEnd.Outcome;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitSort;
import dev.holdfast.queue.notify.DatabaseSubscription;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ChildrenTest extends WaitFixture {
  private static Job child() {
    return Job.of("child");
  }

  @Test
  void children_have_what_their_parent_has_and_are_started_once() {
    Lease parent = addAndClaim(job().owner("acme", "videos").priority(3));
    List<JobId> children = start(parent, "count", child(), child().priority(1));
    assertThat(start(parent, "count", child(), child())).isEqualTo(children);
    JobStatus first = status(children.getFirst());
    assertThat(first.tenant()).isEqualTo("acme");
    assertThat(first.workspace()).isEqualTo("videos");
    assertThat(first.run()).isEqualTo(parent.job());
    assertThat(first.parent()).isEqualTo(parent.job());
    assertThat(first.priority()).isEqualTo(3);
    assertThat(first.queue()).isEqualTo(QUEUE);
    assertThat(status(children.getLast()).priority()).isEqualTo(1);
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(3);
    assertThat(events(parent.job())).containsExactly("created", "processing", "children:started");
  }

  @Test
  void many_children_are_started_in_parts_and_again_after_a_crash_in_between() {
    Lease parent = running();
    Job one = child().id(JobId.ofChild(parent.job(), "c", 1, 0));
    queue.startChildren(new Children(parent, "c", 1, List.of(one), 0));
    assertThat(queries.steps(parent.job())).isEmpty();
    queue.settle(new Settlement.Release(parent, false));
    Lease next = claimOne();
    Job other = Job.of("child", "another payload").id(one.id());
    Job two = child().id(JobId.ofChild(parent.job(), "c", 1, 1));
    assertThat(queue.startChildren(new Children(next, "c", 1, List.of(other, two), 2)))
        .isEqualTo(Ack.ACCEPTED);
    WaitEnd started = end(parent.job(), "c");
    assertThat(started == null ? null : started.jobs()).isEqualTo(2);
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE parent_id IS NOT NULL"))
        .isEqualTo(2);
  }

  @Test
  void an_attempt_that_lost_its_lease_starts_nothing() {
    Lease lost = running();
    expire(lost);
    maintenance.reap(Duration.ZERO);
    Children children = new Children(lost, "c", 1, List.of(child()), 1);
    assertThat(queue.startChildren(children)).isEqualTo(Ack.LEASE_LOST);
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(1);
  }

  @Test
  void a_parent_is_woken_by_the_last_of_its_children() {
    Lease parent = running();
    start(parent, "c", child(), child());
    assertThat(suspend(parent, forAll("c"))).isEqualTo(WaitAnswer.SUSPENDED);
    List<LeasedJob> both = claim(2);
    queue.settle(succeed(both.getFirst().lease()));
    assertThat(maintenance.promote()).isZero();
    assertThat(state(parent.job())).isEqualTo(JobState.WAITING);
    queue.settle(succeed(both.getLast().lease()));
    await().until(() -> state(parent.job()) == JobState.PENDING);
    assertThat(end(parent.job(), "join")).isEqualTo(over(WaitSort.CHILDREN, Outcome.ENDED));
    assertThat(claimOne().job()).isEqualTo(parent.job());
  }

  @Test
  void a_parent_that_is_being_suspended_is_woken_by_a_child_that_it_did_not_see_end()
      throws SQLException {
    Lease parent = running();
    start(parent, "c", child());
    Lease child = claimOne();
    try (Connection suspending = db.connection()) {
      suspending.setAutoCommit(false);
      // As Suspend does it: it has locked the row, and looked before the child has ended.
      try (Statement statement = suspending.createStatement()) {
        statement.execute(
            "SELECT id FROM holdfast.job WHERE id = '" + parent.job() + "' FOR NO KEY UPDATE");
        queue.settle(succeed(child));
        awaitLockWait();
        statement.execute(
            "UPDATE holdfast.job SET state = 'WAITING', heartbeat_at = NULL,"
                + " lease_expires_at = NULL, wait_sort = 'CHILDREN', wait = '{\"id\": \"join\","
                + " \"index\": 2, \"started\": [\"c\"], \"any\": false, \"failFast\": true,"
                + " \"since\": \"2026-01-01T00:00:00Z\"}' WHERE id = '"
                + parent.job()
                + "'");
      }
      suspending.commit();
    }
    await().until(() -> state(parent.job()) == JobState.PENDING);
  }

  @Test
  void workers_hear_of_a_parent_whose_row_was_locked_when_another_process_had_woken_it()
      throws Exception {
    Lease parent = running();
    start(parent, "c", child());
    assertThat(suspend(parent, forAll("c"))).isEqualTo(WaitAnswer.SUSPENDED);
    Lease child = claimOne();
    BlockingQueue<String> rings = new LinkedBlockingQueue<>();
    DatabaseSubscription listening = another().notifier().subscribe(List.of(QUEUE), rings::add);
    try (Connection waking = db.connection();
        Statement statement = waking.createStatement()) {
      assertThat(rings.take()).isEqualTo(QUEUE); // it listens
      waking.setAutoCommit(false);
      statement.execute(
          "SELECT id FROM holdfast.job WHERE id = '" + parent.job() + "' FOR NO KEY UPDATE");
      queue.settle(succeed(child));
      awaitLockWait();
      statement.execute(
          "UPDATE holdfast.job SET state = 'PENDING', wait_sort = NULL, wait = NULL WHERE id = '"
              + parent.job()
              + "'");
      waking.commit();
      assertThat(rings.poll(30, TimeUnit.SECONDS)).isEqualTo(QUEUE);
    } finally {
      listening.close();
    }
  }

  @Test
  void a_parent_whose_row_stays_locked_keeps_no_other_waiting() throws SQLException {
    Lease locked = running();
    Lease free = running();
    start(locked, "c", child());
    start(free, "c", child());
    suspend(free, forAll("c"));
    List<Lease> children = claim(2).stream().map(LeasedJob::lease).toList();
    try (Connection locking = db.connection()) {
      locking.setAutoCommit(false);
      try (Statement statement = locking.createStatement()) {
        statement.execute(
            "SELECT id FROM holdfast.job WHERE id = '" + locked.job() + "' FOR NO KEY UPDATE");
      }
      children.forEach(child -> queue.settle(succeed(child)));
      await().until(() -> state(free.job()) == JobState.PENDING);
      JobId after = add(job().dependsOn(free.job()));
      queue.cancel(List.of(free.job()), false, "x", Tenant.ANY);
      await().until(() -> state(after) == JobState.CANCELLED);
      locking.rollback();
    }
    assertThat(suspend(locked, forAll("c"))).isInstanceOf(WaitAnswer.Over.class);
  }

  @Test
  void children_that_have_ended_before_are_no_wait() {
    Lease parent = running();
    start(parent, "c", child());
    queue.settle(succeed(claimOne()));
    assertThat(suspend(parent, forAll("c"))).isInstanceOf(WaitAnswer.Over.class);
  }

  @Test
  void a_child_that_fails_wakes_its_parent_and_cancels_the_others() {
    Lease parent = running();
    List<JobId> children = start(parent, "c", child(), child(), child());
    suspend(parent, forAll("c"));
    LeasedJob failing = claim(1).getFirst();
    JobId another = children.get(failing.id().equals(children.getLast()) ? 0 : 2);
    JobId after = add(job().queue("other").dependsOn(another));
    queue.settle(fail(failing.lease(), HOPELESS));
    await().until(() -> state(parent.job()) == JobState.PENDING);
    assertThat(end(parent.job(), "join"))
        .isEqualTo(over(WaitSort.CHILDREN, Outcome.FAILED, failing.id()));
    assertThat(children.stream().filter(id -> !id.equals(failing.id())).map(this::state))
        .containsOnly(JobState.CANCELLED);
    await().until(() -> state(after) == JobState.CANCELLED);
  }

  @Test
  void a_wait_that_collects_lasts_until_all_have_ended_however_they_did() {
    Lease parent = running();
    start(parent, "c", child(), child());
    suspend(parent, new Wait.ForChildren("join", List.of("c"), false, false, null));
    List<LeasedJob> both = claim(2);
    queue.settle(fail(both.getFirst().lease(), HOPELESS));
    assertThat(maintenance.promote()).isZero();
    queue.settle(succeed(both.getLast().lease()));
    await().until(() -> state(parent.job()) == JobState.PENDING);
    assertThat(end(parent.job(), "join")).isEqualTo(over(WaitSort.CHILDREN, Outcome.ENDED));
  }

  @Test
  void a_wait_for_any_is_over_with_the_first() {
    Lease parent = running();
    start(parent, "a", child());
    start(parent, "b", child());
    suspend(parent, new Wait.ForChildren("first", List.of("a", "b"), true, false, null));
    Lease one = claim(1).getFirst().lease();
    queue.settle(succeed(one));
    await().until(() -> state(parent.job()) == JobState.PENDING);
    assertThat(end(parent.job(), "first"))
        .isEqualTo(over(WaitSort.CHILDREN, Outcome.ENDED, one.job()));
  }

  @Test
  void a_fork_that_waits_for_jobs_of_the_original_gets_their_end_at_once() {
    Lease parent = running();
    start(parent, "a", child());
    Lease ended = claim(1).getFirst().lease();
    queue.settle(fail(ended, HOPELESS));
    queue.report(
        List.of(Report.Step.done(parent, "after", 2, 1, new Json("1"), Duration.ofMillis(1))));
    queue.settle(succeed(parent));
    for (Wait.ForChildren wait :
        List.of(
            new Wait.ForChildren("first", List.of("a"), true, false, null),
            new Wait.ForChildren("all", List.of("a"), false, true, null))) {
      queue.fork(parent.job(), new JobFork("after", 1, null, null), "ada", Tenant.ANY);
      Lease fork = claimOne();
      assertThat(queue.suspend(new Suspension(fork, 3, wait)))
          .isInstanceOfSatisfying(
              WaitAnswer.Over.class,
              over -> assertThat(over.end().job()).as(wait.id()).isEqualTo(ended.job()));
      queue.settle(succeed(fork));
    }
  }

  @Test
  void a_start_of_no_jobs_is_done_so_that_a_job_can_be_sent_back_to_what_comes_after_it() {
    Lease parent = running();
    assertThat(start(parent, "none")).isEmpty();
    assertThat(end(parent.job(), "none"))
        .isEqualTo(new WaitEnd(WaitSort.CHILDREN, Outcome.STARTED, null, null, null, null, 0));
    queue.report(
        List.of(Report.Step.done(parent, "after", 2, 1, new Json("1"), Duration.ofMillis(1))));
    JobCommand back = new JobCommand(CommandAction.HARD_RESET_STEP, "after", "ada", "again");
    assertThat(queue.command(parent.job(), back, Tenant.ANY).answer())
        .isEqualTo(JobCommand.Answer.ACCEPTED);
  }

  @Test
  void a_cancel_of_the_parent_reaches_children_and_a_cancelled_child_wakes_it() {
    Lease parent = running();
    List<JobId> children = start(parent, "c", child());
    suspend(parent, forAll("c"));
    queue.cancel(children, false, "x", Tenant.ANY);
    await().until(() -> state(parent.job()) == JobState.PENDING);

    Lease other = addAndClaim(job().queue("other"));
    List<JobId> theirs = start(other, "c", child());
    suspend(other, forAll("c"));
    queue.cancel(List.of(other.job()), true, "x", Tenant.ANY);
    assertThat(state(theirs.getFirst())).isEqualTo(JobState.CANCELLED);
    assertThat(state(other.job())).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void a_parent_that_nobody_has_woken_is_found_by_a_sweep() {
    Lease parent = running();
    List<JobId> children = start(parent, "c", child());
    suspend(parent, forAll("c"));
    // As if the process had died after the commit.
    set(
        children.getFirst(),
        "state = 'CANCELLED', finished_at = now(), attempt = attempt, run_at = run_at");
    assertThat(maintenance.promote()).isEqualTo(1);
    assertThat(state(parent.job())).isEqualTo(JobState.PENDING);
  }

  @Test
  void children_have_neither_unique_keys_nor_dependencies() {
    Lease parent = running();
    assertRefused(Refusal.BAD_UNIQUE, () -> start(parent, "c", child().uniqueKey("k")));
    assertRefused(Refusal.BAD_UNIQUE, () -> start(parent, "c", child().dependsOn(parent.job())));
  }

  @Test
  void ids_of_children_follow_from_their_parents() {
    JobId parent = JobId.parse("01a1dd46-efa0-7231-88cf-925231baa463");
    JobId child = JobId.ofChild(parent, "count", 1, 0);
    assertThat(child).isEqualTo(JobId.ofChild(parent, "count", 1, 0));
    assertThat(child.toString()).startsWith("01a1dd46-efa0-7");
    assertThat(child.value().version()).isEqualTo(7);
    assertThat(child.value().variant()).isEqualTo(2);
    assertThat(
            List.of(
                JobId.ofChild(parent, "count", 1, 1),
                JobId.ofChild(parent, "count", 2, 0),
                JobId.ofChild(parent, "other", 1, 0),
                JobId.ofChild(JobId.next(), "count", 1, 0)))
        .doesNotContain(child)
        .doesNotHaveDuplicates();
  }
}
