package dev.holdfast.queue.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.attempt.WaitEnd.Outcome;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitCount;
import dev.holdfast.model.wait.WaitSort;
import dev.holdfast.queue.Parallel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SuspendTest extends WaitFixture {
  private static final Wait.Sleep NAP = new Wait.Sleep("nap", Duration.ofDays(3));

  @Test
  void a_suspended_job_keeps_its_budgets_and_its_unique_key_and_nothing_else() {
    Lease first =
        addAndClaim(job().concurrencyKey("k", 1).unique(Unique.by("only")).maxAttempts(1));
    JobId second = add(job().concurrencyKey("k", 1));
    assertThat(claim(1)).isEmpty();

    assertThat(suspend(first, NAP)).isEqualTo(WaitAnswer.SUSPENDED);

    JobStatus waiting = status(first.job());
    assertThat(waiting.state()).isEqualTo(JobState.WAITING);
    assertThat(waiting.failures()).isZero();
    assertThat(waiting.crashes()).isZero();
    assertThat(claimOne().job()).isEqualTo(second);
    assertThat(queue.enqueue(job().unique(Unique.by("only"))).id()).isEqualTo(first.job());
    assertThat(queries.attempts(first.job()).getFirst().outcome())
        .isEqualTo(AttemptOutcome.SUSPENDED);
    assertThat(events(first.job())).containsExactly("created", "processing", "suspended");
  }

  @Test
  void what_waits_for_a_job_that_is_cancelled_when_it_would_wait_is_freed_at_once() {
    Lease lease = running();
    JobId after = add(job().queue("other").dependsOn(lease.job()));
    queue.cancel(List.of(lease.job()), false, "x", Tenant.ANY);
    suspend(lease, NAP);
    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
    await().until(() -> state(after) == JobState.CANCELLED);
  }

  @Test
  void a_waiting_job_says_for_what_and_is_found_by_it() {
    Lease signal = suspended(new Wait.ForSignal("go", "start", Duration.ofDays(1)));
    Lease children = running();
    start(children, "c", job());
    suspend(children, forAll("c"));
    OpenWait open = status(signal.job()).waitsFor();
    assertThat(open == null ? null : open.text()).isEqualTo("the signal 'start'");
    assertThat(open == null ? null : open.until()).isAfter(queries.now());
    OpenWait of = status(children.job()).waitsFor();
    assertThat(of == null ? null : of.text()).isEqualTo("jobs that it has started as c");
    assertThat(queries.list(JobFilter.ALL.waits(WaitSort.CHILDREN)))
        .extracting(JobStatus::id)
        .containsExactly(children.job());
    signal(signal.job(), "start", "1");
    assertThat(status(signal.job()).waitsFor()).isNull();
  }

  @Test
  void open_waits_are_counted_by_kind_and_sort_and_questions_that_are_old_are_a_warning() {
    Question question = Question.of("Go on?");
    Lease asking = suspended(new Wait.ForApproval("q", question));
    suspended(new Wait.ForApproval("q", question));
    suspended(new Wait.ForSignal("go", "start", null));
    set(asking.job(), "wait = wait || jsonb_build_object('since', now() - interval '25 hours')");
    assertThat(queries.waits())
        .extracting(WaitCount::sort, WaitCount::jobs, each -> each.oldest().toHours())
        .containsExactly(tuple(WaitSort.APPROVAL, 2L, 25L), tuple(WaitSort.SIGNAL, 1L, 0L));
    assertThat(queries.warnings(Tenant.ANY, Duration.ZERO).unanswered()).isEqualTo(1);
    assertThat(queries.warnings(Tenant.of("other"), Duration.ZERO).unanswered()).isZero();
  }

  @Test
  void a_sleep_is_over_at_its_time_and_its_job_is_due_then() {
    Lease lease = suspended(NAP);
    assertThat(maintenance.promote()).isZero();
    assertThat(claim(1)).isEmpty();

    passTime(lease.job());

    Instant due = status(lease.job()).runAt();
    assertThat(maintenance.promote()).isEqualTo(1);
    assertThat(status(lease.job()).runAt()).isBefore(due);
    WaitEnd end = end(lease.job(), "nap");
    assertThat(end == null ? null : end.outcome()).isEqualTo(Outcome.TIME);
    Lease next = claimOne();
    assertThat(next).isEqualTo(new Lease(lease.job(), 2));
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "suspended", "resumed", "processing");
  }

  @Test
  void an_idle_claim_wakes_what_is_due_and_says_when_the_next_wait_is_over() {
    Lease lease = suspended(new Wait.Sleep("nap", Duration.ofSeconds(40)));
    Duration next = queue.claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE)).nextDue();
    assertThat(next).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(40));
    passTime(lease.job());
    assertThat(claimOne().job()).isEqualTo(lease.job());
  }

  @Test
  void a_sleep_that_is_over_is_no_wait() {
    Lease lease = running();
    assertThat(suspend(lease, new Wait.SleepUntil("then", Instant.parse("2020-01-01T00:00:00Z"))))
        .isEqualTo(new WaitAnswer.Over(over(WaitSort.SLEEP, Outcome.TIME), null));
    assertThat(suspend(lease, new Wait.Sleep("zero", Duration.ZERO)))
        .isInstanceOf(WaitAnswer.Over.class);
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
    assertThat(queries.steps(lease.job())).hasSize(2);
  }

  @Test
  void a_question_whose_answer_was_lost_is_answered_the_same_again() {
    Lease suspended = suspended(NAP);
    assertThat(suspend(suspended, NAP)).isEqualTo(WaitAnswer.SUSPENDED);
    assertThat(events(suspended.job())).containsExactly("created", "processing", "suspended");

    Lease told = running();
    signal(told.job(), "go", "1");
    signal(told.job(), "go", "2");
    WaitAnswer first = suspend(told, forSignal("go"));
    assertThat(suspend(told, forSignal("go"))).as("takes no second signal").isEqualTo(first);
    assertThat(suspend(told, new Wait.ForSignal("again", "go", null)))
        .isInstanceOfSatisfying(
            WaitAnswer.Over.class, over -> assertThat(over.payload()).isEqualTo(new Json("2")));
  }

  @Test
  void an_attempt_that_no_longer_holds_the_job_changes_nothing() {
    Lease lease = running();
    expire(lease);
    maintenance.reap(Duration.ZERO);
    String before = row(lease.job());
    assertThat(suspend(lease, NAP)).isEqualTo(WaitAnswer.LEASE_LOST);
    assertThat(row(lease.job())).isEqualTo(before);
  }

  @Test
  void jobs_that_ask_at_the_same_moment_get_an_answer_each() {
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      leases.add(running());
      if (i % 3 == 0) {
        signal(leases.get(i).job(), "go", "true");
      } else if (i % 3 == 1) {
        queue.settle(succeed(leases.get(i)));
      }
    }
    List<WaitAnswer> answers = Parallel.run(60, i -> () -> suspend(leases.get(i), forSignal("go")));
    for (int i = 0; i < 60; i++) {
      switch (i % 3) {
        case 0 -> assertThat(answers.get(i)).isInstanceOf(WaitAnswer.Over.class);
        case 1 -> assertThat(answers.get(i)).isEqualTo(WaitAnswer.LEASE_LOST);
        default -> assertThat(answers.get(i)).isEqualTo(WaitAnswer.SUSPENDED);
      }
    }
  }

  @Test
  void a_job_that_was_asked_to_cancel_is_cancelled_and_not_suspended() {
    Lease lease = running();
    queue.cancel(List.of(lease.job()), false, "x", Tenant.ANY);
    assertThat(suspend(lease, NAP)).isEqualTo(WaitAnswer.SUSPENDED);
    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE wait IS NOT NULL")).isZero();
  }

  @Test
  void a_waiting_job_is_cancelled_at_once_and_ends_at_its_deadline() {
    Lease cancelled = suspended(NAP);
    queue.cancel(List.of(cancelled.job()), false, "x", Tenant.ANY);
    assertThat(state(cancelled.job())).isEqualTo(JobState.CANCELLED);

    Lease late = addAndClaim(job().deadline(Instant.now().plusSeconds(600)));
    suspend(late, NAP);
    set(late.job(), "deadline = now() - interval '1 second'");
    maintenance.expire();
    assertThat(state(late.job())).isEqualTo(JobState.FAILED);
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.job"
                    + " WHERE wait IS NOT NULL OR wait_sort IS NOT NULL OR wake_at IS NOT NULL"))
        .isZero();
  }

  @Test
  void a_job_that_was_woken_stands_at_its_old_place() {
    Lease early = running();
    JobId later = add(job());
    suspend(early, forSignal("go"));
    signal(early.job(), "go", "1");
    assertThat(claimOne().job()).isEqualTo(early.job());
    assertThat(claimOne().job()).isEqualTo(later);
  }

  @Test
  void a_job_of_a_batch_claim_can_be_suspended() {
    List<Job> jobs = jobs(300);
    queue.enqueue(jobs);
    ClaimRequest batch = new ClaimRequest(QUEUE, 150, WORKER, LEASE).inBatches();
    queue.claim(batch);
    List<Lease> leases = queue.claim(batch).jobs().stream().map(each -> each.lease()).toList();
    assertThat(db.count("SELECT count(*) FROM holdfast.claim")).isPositive();
    assertThat(suspend(leases.getFirst(), NAP)).isEqualTo(WaitAnswer.SUSPENDED);
    assertThat(state(leases.getFirst().job())).isEqualTo(JobState.WAITING);
  }

  @Test
  void a_job_has_a_thousand_steps_and_waits_at_most() {
    Lease lease = running();
    db.sql(
        "INSERT INTO holdfast.step (job_id, step_id, step_index, state, attempt, job_attempt,"
            + " started_at) SELECT ?, 's' || n, n, 'DONE', 1, 1, now()"
            + " FROM generate_series(1, 1000) AS n",
        lease.job().value());
    assertRefused(Refusal.BAD_LIMIT, () -> suspend(lease, NAP));
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
  }
}
