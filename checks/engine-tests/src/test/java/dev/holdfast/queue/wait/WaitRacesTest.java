package dev.holdfast.queue.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.attempt.WaitEnd.Outcome;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.SignalToJob.Answer;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.command.Cancel;
import dev.holdfast.queue.command.Retry;
import dev.holdfast.queue.recover.Reap;
import dev.holdfast.queue.settle.Succeed;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Two things that may happen to a wait, each first, while the transaction of the first is open: the
 * table of ADR 24. Sweeps pass over a row that is locked; all others wait for it, and act on what
 * they find then.
 */
class WaitRacesTest extends WaitFixture {
  private static final Wait.Sleep NAP = new Wait.Sleep("nap", Duration.ofDays(3));
  private static final Wait.ForSignal IN_TIME = new Wait.ForSignal("go", "go", Duration.ofDays(3));
  private static final SignalToJob GO = new SignalToJob("go", new Json("1"), null, "first");
  private static final Decision YES = new Decision(true, "grace", "");

  private static void suspendOn(Connection connection, Lease lease, Wait asked)
      throws SQLException {
    Suspend.all(
        connection, List.of(new Suspension(lease, 1, asked)), new HashMap<>(), new HashSet<>());
  }

  private static First suspending(Lease lease, Wait asked) {
    return connection -> suspendOn(connection, lease, asked);
  }

  private static First signalling(JobId job) {
    return connection ->
        assertThat(SendSignal.one(connection, job, GO, Tenant.ANY).answer())
            .isEqualTo(Answer.ACCEPTED);
  }

  private static First cancelling(JobId job) {
    return connection -> Cancel.of(connection, List.of(job), "x");
  }

  private static void endOfTime(Connection connection) throws SQLException {
    assertThat(Wake.due(connection, null)).hasSize(1);
  }

  private Cancellation.Outcome cancel(JobId job) {
    return queue.cancel(List.of(job), false, "x", Tenant.ANY).getFirst().outcome();
  }

  private Outcome outcome(JobId job, String id) {
    WaitEnd end = end(job, id);
    assertThat(end).isNotNull();
    return end == null ? Outcome.STARTED : end.outcome();
  }

  /** How many signals no wait has taken, and how many were. */
  private String mailbox(JobId job) {
    return db.count(
            "SELECT count(*) FROM holdfast.signal WHERE job_id = '"
                + job
                + "' AND taken_by IS NULL")
        + " left, "
        + db.count(
            "SELECT count(*) FROM holdfast.signal WHERE job_id = '"
                + job
                + "' AND taken_by IS NOT NULL")
        + " taken";
  }

  /** What a sweep does while the transaction is open, and what it does afterwards. */
  private List<Integer> sweepsDuringAndAfter(First first) throws SQLException {
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      first.on(connection);
      int during = maintenance.promote();
      connection.commit();
      return List.of(during, maintenance.promote());
    }
  }

  // ---- signal and suspend

  @Test
  void a_signal_that_is_being_sent_is_seen_by_the_attempt_that_asks_for_it() throws SQLException {
    Lease lease = running();
    WaitAnswer answer = after(signalling(lease.job()), () -> suspend(lease, forSignal("go")));
    assertThat(answer)
        .isInstanceOfSatisfying(
            WaitAnswer.Over.class, over -> assertThat(over.payload()).isEqualTo(new Json("1")));
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
    assertThat(mailbox(lease.job())).isEqualTo("0 left, 1 taken");
  }

  @Test
  void a_signal_wakes_a_job_that_is_being_suspended() throws SQLException {
    Lease lease = running();
    Answer answer = after(suspending(lease, forSignal("go")), () -> signal(lease.job(), "go", "1"));
    assertThat(answer).isEqualTo(Answer.ACCEPTED);
    assertThat(state(lease.job())).isEqualTo(JobState.PENDING);
    assertThat(outcome(lease.job(), "go")).isEqualTo(Outcome.SIGNAL);
    assertThat(mailbox(lease.job())).isEqualTo("0 left, 1 taken");
  }

  // ---- signal and continueAs

  @Test
  void a_signal_that_is_being_sent_goes_along_to_the_next_job() throws SQLException {
    Lease lease = running();
    Ack settled =
        after(
            signalling(lease.job()),
            () -> queue.settle(new Settlement.Continue(lease, new Json("2"))));
    assertThat(settled).isEqualTo(Ack.ACCEPTED);
    assertThat(mailbox(lease.job())).isEqualTo("0 left, 0 taken");
    assertThat(mailbox(JobId.ofSuccessor(lease.job()))).isEqualTo("1 left, 0 taken");
  }

  // ---- two signals

  @Test
  void of_two_signals_at_once_one_wakes_the_job_and_the_other_stays() throws SQLException {
    Lease lease = suspended(forSignal("go"));
    assertThat(after(signalling(lease.job()), () -> signal(lease.job(), "go", "2")))
        .isEqualTo(Answer.ACCEPTED);
    assertThat(queries.steps(lease.job()).getFirst().checkpoint()).isEqualTo(new Json("1"));
    assertThat(mailbox(lease.job())).isEqualTo("1 left, 1 taken");
    assertThat(events(lease.job())).containsOnlyOnce("resumed");
  }

  @Test
  void the_same_signal_twice_at_once_counts_once() throws SQLException {
    Lease lease = running();
    SignalToJob keyed = new SignalToJob("go", new Json("1"), "k", "");
    Answer second =
        after(
            connection -> SendSignal.one(connection, lease.job(), keyed, Tenant.ANY),
            () -> queue.signal(lease.job(), keyed, Tenant.ANY));
    assertThat(second).isEqualTo(Answer.DUPLICATE);
    assertThat(mailbox(lease.job())).isEqualTo("1 left, 0 taken");
  }

  // ---- end of time and signal

  @Test
  void a_sweep_leaves_a_wait_alone_that_a_signal_is_ending() throws SQLException {
    Lease lease = suspended(IN_TIME);
    passTime(lease.job());
    assertThat(sweepsDuringAndAfter(signalling(lease.job()))).containsExactly(0, 0);
    assertThat(outcome(lease.job(), "go")).isEqualTo(Outcome.SIGNAL);
    assertThat(events(lease.job())).containsOnlyOnce("resumed");
  }

  @Test
  void a_signal_to_a_wait_that_is_running_out_of_time_stays_in_the_mailbox() throws SQLException {
    Lease lease = suspended(IN_TIME);
    passTime(lease.job());
    assertThat(after(WaitRacesTest::endOfTime, () -> signal(lease.job(), "go", "1")))
        .isEqualTo(Answer.ACCEPTED);
    assertThat(outcome(lease.job(), "go")).isEqualTo(Outcome.TIMEOUT);
    assertThat(mailbox(lease.job())).isEqualTo("1 left, 0 taken");
    assertThat(suspend(claimOne(), new Wait.ForSignal("again", "go", null)))
        .isInstanceOf(WaitAnswer.Over.class);
  }

  // ---- end of time and decision

  @Test
  void a_decision_and_the_end_of_time_end_a_question_once() throws SQLException {
    Wait ask = new Wait.ForApproval("ok", Question.of("Well?").within(Duration.ofDays(1)));
    Lease decided = suspended(ask);
    passTime(decided.job());
    First deciding =
        connection ->
            assertThat(
                    Decide.one(connection, decided.job(), "ok", YES, Role.OPERATOR, Tenant.ANY)
                        .answer())
                .isEqualTo(Decision.Answer.ACCEPTED);
    assertThat(sweepsDuringAndAfter(deciding)).containsExactly(0, 0);
    assertThat(outcome(decided.job(), "ok")).isEqualTo(Outcome.APPROVED);
    queue.settle(succeed(claimOne()));

    Lease late = suspended(ask);
    passTime(late.job());
    assertThat(
            after(
                WaitRacesTest::endOfTime,
                () -> queue.decide(late.job(), "ok", YES, Role.OPERATOR, Tenant.ANY)))
        .isEqualTo(Decision.Answer.NOT_ASKED);
    assertThat(outcome(late.job(), "ok")).isNotEqualTo(Outcome.APPROVED);
  }

  @Test
  void of_two_decisions_at_once_the_first_counts() throws SQLException {
    Lease lease = suspended(new Wait.ForApproval("ok", Question.of("Well?")));
    Decision no = new Decision(false, "ada", "");
    Decision.Answer second =
        after(
            connection -> Decide.one(connection, lease.job(), "ok", no, Role.OPERATOR, Tenant.ANY),
            () -> queue.decide(lease.job(), "ok", YES, Role.OPERATOR, Tenant.ANY));
    assertThat(second).isEqualTo(Decision.Answer.NOT_ASKED);
    assertThat(outcome(lease.job(), "ok")).isEqualTo(Outcome.REJECTED);
  }

  // ---- cancel and wake

  @Test
  void a_job_that_is_being_cancelled_is_woken_by_nothing() throws SQLException {
    Lease signalled = suspended(forSignal("go"));
    assertThat(after(cancelling(signalled.job()), () -> signal(signalled.job(), "go", "1")))
        .isEqualTo(Answer.ALREADY_TERMINAL);
    assertThat(state(signalled.job())).isEqualTo(JobState.CANCELLED);
    assertThat(mailbox(signalled.job())).isEqualTo("0 left, 0 taken");

    Lease asleep = suspended(NAP);
    passTime(asleep.job());
    assertThat(sweepsDuringAndAfter(cancelling(asleep.job()))).containsExactly(0, 0);
    assertThat(state(asleep.job())).isEqualTo(JobState.CANCELLED);
    assertThat(end(asleep.job(), "nap")).isNull();
  }

  @Test
  void a_parent_that_is_being_cancelled_is_not_woken_by_its_child() throws SQLException {
    Lease parent = running();
    start(parent, "c", Job.of("child"));
    suspend(parent, forAll("c"));
    Lease child = claimOne();
    assertThat(after(cancelling(parent.job()), () -> settleAndSweep(child))).isZero();
    assertThat(state(parent.job())).isEqualTo(JobState.CANCELLED);
    assertThat(end(parent.job(), "join")).isNull();
  }

  private int settleAndSweep(Lease lease) {
    assertThat(queue.settle(succeed(lease))).isEqualTo(Ack.ACCEPTED);
    return maintenance.promote();
  }

  @Test
  void a_job_that_is_being_woken_is_pending_when_it_is_cancelled() throws SQLException {
    Lease signalled = suspended(forSignal("go"));
    assertThat(after(signalling(signalled.job()), () -> cancel(signalled.job())))
        .isEqualTo(Cancellation.Outcome.CANCELLED);
    assertThat(events(signalled.job())).endsWith("signal", "resumed", "cancelled");

    Lease asleep = suspended(NAP);
    passTime(asleep.job());
    assertThat(after(WaitRacesTest::endOfTime, () -> cancel(asleep.job())))
        .isEqualTo(Cancellation.Outcome.CANCELLED);
    assertThat(events(asleep.job())).endsWith("resumed", "cancelled");
    assertThat(claim(1)).isEmpty();
  }

  // ---- cancel and suspend

  @Test
  void a_job_that_is_being_cancelled_ends_when_its_attempt_asks_to_wait() throws SQLException {
    Lease lease = running();
    assertThat(after(cancelling(lease.job()), () -> suspend(lease, NAP)))
        .isEqualTo(WaitAnswer.SUSPENDED);
    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "cancel:requested", "cancelled");
  }

  @Test
  void a_job_that_is_being_suspended_is_cancelled_at_once() throws SQLException {
    Lease lease = running();
    assertThat(after(suspending(lease, NAP), () -> cancel(lease.job())))
        .isEqualTo(Cancellation.Outcome.CANCELLED);
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "suspended", "cancelled");
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE wait IS NOT NULL")).isZero();
  }

  // ---- end of the last child and join

  @Test
  void a_child_that_is_being_settled_does_not_end_a_wait_before_its_commit() throws SQLException {
    Lease parent = running();
    start(parent, "c", Job.of("child"));
    Lease child = claimOne();
    try (Connection settling = db.connection()) {
      settling.setAutoCommit(false);
      Succeed.all(settling, List.of(succeed(child)));
      assertThat(suspend(parent, forAll("c"))).isEqualTo(WaitAnswer.SUSPENDED);
      assertThat(maintenance.promote()).isZero();
      settling.commit();
    }
    // The answer of the settle was lost, and the worker asks.
    assertThat(queue.succeeded(child)).isTrue();
    await().until(() -> state(parent.job()) == JobState.PENDING);
    assertThat(outcome(parent.job(), "join")).isEqualTo(Outcome.ENDED);
  }

  @Test
  void a_child_that_waited_for_its_lock_while_its_parent_was_suspended_wakes_it()
      throws SQLException {
    Lease parent = running();
    start(parent, "c", Job.of("child"));
    Lease child = claimOne();
    First locked =
        connection -> {
          // The child's settle waits for this row, and its end is after the suspend.
          cancelling(child.job()).on(connection);
          suspend(parent, forAll("c"));
        };
    assertThat(after(locked, () -> queue.settle(succeed(child)))).isEqualTo(Ack.ACCEPTED);
    await().until(() -> state(parent.job()) == JobState.PENDING);
  }

  // ---- reap and suspend

  @Test
  void an_attempt_that_is_being_reaped_cannot_suspend() throws SQLException {
    Lease lease = running();
    expire(lease);
    assertThat(after(c -> Reap.lost(c, Duration.ZERO, 10), () -> suspend(lease, NAP)))
        .isEqualTo(WaitAnswer.LEASE_LOST);
    assertThat(state(lease.job())).isEqualTo(JobState.PENDING);
    assertThat(status(lease.job()).crashes()).isEqualTo(1);
  }

  @Test
  void an_attempt_that_is_being_suspended_is_not_reaped() throws SQLException {
    Lease lease = running();
    expire(lease);
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      suspendOn(connection, lease, NAP);
      assertThat(maintenance.reap(Duration.ZERO).requeued()).isEmpty();
      connection.commit();
    }
    assertThat(maintenance.reap(Duration.ZERO).requeued()).isEmpty();
    assertThat(state(lease.job())).isEqualTo(JobState.WAITING);
    assertThat(status(lease.job()).crashes()).isZero();
  }

  // ---- an operator's retry and the end of a child

  @Test
  void a_child_that_was_retried_is_waited_for_again_by_a_parent_that_still_waits()
      throws SQLException {
    Lease parent = running();
    start(parent, "c", Job.of("child"), Job.of("child"));
    suspend(parent, new Wait.ForChildren("join", List.of("c"), false, false, null));
    List<LeasedJob> both = claim(2);
    Lease failed = both.getFirst().lease();
    queue.settle(fail(failed, HOPELESS));
    // The other one ends after the retry, for whose commit it waits.
    First retrying =
        connection -> {
          Cancel.of(connection, List.of(both.getLast().id()), "x");
          queue.retry(List.of(failed.job()), Tenant.ANY);
        };
    assertThat(after(retrying, () -> queue.settle(succeed(both.getLast().lease()))))
        .isEqualTo(Ack.ACCEPTED);
    assertThat(maintenance.promote()).isZero();
    assertThat(state(parent.job())).isEqualTo(JobState.WAITING);

    queue.settle(succeed(claimOne()));
    await().until(() -> state(parent.job()) == JobState.PENDING);
  }

  @Test
  void a_retry_that_comes_after_the_last_end_does_not_undo_the_wake() throws SQLException {
    Lease parent = running();
    start(parent, "c", Job.of("child"), Job.of("child"));
    suspend(parent, new Wait.ForChildren("join", List.of("c"), false, false, null));
    List<LeasedJob> both = claim(2);
    JobId failed = both.getFirst().id();
    queue.settle(fail(both.getFirst().lease(), HOPELESS));
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      Retry.all(connection, List.of(failed), Tenant.ANY);
      // Nobody can see the retry yet.
      queue.settle(succeed(both.getLast().lease()));
      await().until(() -> state(parent.job()) == JobState.PENDING);
      connection.commit();
    }
    assertThat(outcome(parent.job(), "join")).isEqualTo(Outcome.ENDED);
    assertThat(state(failed)).isEqualTo(JobState.PENDING);
    assertThat(maintenance.promote()).isZero();
    assertThat(events(parent.job())).containsOnlyOnce("resumed");
  }

  @Test
  void a_parent_that_is_being_retried_finds_the_children_that_have_ended_meanwhile()
      throws SQLException {
    Lease parent = running();
    start(parent, "c", Job.of("child"));
    suspend(parent, forAll("c"));
    Lease child = claimOne();
    queue.cancel(List.of(parent.job()), false, "x", Tenant.ANY);
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      Retry.all(connection, List.of(parent.job()), Tenant.ANY);
      assertThat(queue.settle(succeed(child))).isEqualTo(Ack.ACCEPTED);
      connection.commit();
    }
    Lease again = claimOne();
    assertThat(again.job()).isEqualTo(parent.job());
    assertThat(suspend(again, forAll("c"))).isInstanceOf(WaitAnswer.Over.class);
  }
}
