package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.Selection;
import dev.holdfast.contract.resource.JobDetailResource;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.job.ForkedFrom;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitSort;
import dev.holdfast.queue.Notices;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Jobs are the same to an operator on the database and through a server. */
class JobOperatorsTest extends OperatorsFixture {
  private static final JobEdit NOT_JSON = JobEdit.NOTHING.payload(new Json("{"));

  JobOperatorsTest(TestDatabase db) {
    super(db);
  }

  @Test
  void edits_deletes_and_searches_by_tag_have_the_same_answers() {
    JobId run = JobId.next();
    for (Operator operator : List.of(direct, remote)) {
      JobId job = JobId.next();
      operator
          .jobs()
          .enqueue(List.of(Job.of("send", new Json("{}")).id(job).tags("b", "a").run(run, "x")));
      assertThat(operator.jobs().list(JobFilter.ALL.tag("a").run(run).before(null)))
          .extracting(JobStatus::id)
          .contains(job);
      assertThat(operator.jobs().list(JobFilter.ALL.tag("c"))).isEmpty();
      assertThat(operator.jobs().find(job).orElseThrow().attributes().tags())
          .containsExactly("a", "b");
      JobEdit edit = JobEdit.NOTHING.priority(1).payload(new Json("{\"n\":1}"));
      JobStatus edited = operator.jobs().edit(job, edit.delay(Duration.ofHours(1)));
      assertThat(edited).isEqualTo(operator.jobs().find(job).orElseThrow());
      assertThat(edited.priority()).isEqualTo(1);
      assertThat(edited.runAt()).isAfter(Instant.now().plus(Duration.ofMinutes(50)));
      assertThat(edited.payload().text()).contains("1");
      JobId waiting =
          operator.jobs().enqueue(List.of(Job.of("next").dependsOn(job))).getFirst().id();
      refuses(operator, it -> it.jobs().delete(job), "JOB_AWAITED in PENDING: ");
      assertThat(operator.jobs().delete(waiting)).isEqualTo(JobState.WAITING);
      operator.jobs().cancel(job, false, "enough");
      refuses(operator, it -> it.jobs().edit(job, edit), "JOB_ALREADY_TERMINAL in CANCELLED: ");
      assertThat(operator.jobs().delete(job)).isEqualTo(JobState.CANCELLED);
      refuses(operator, it -> it.jobs().delete(job), "NOT_FOUND: ");
      refuses(operator, it -> it.jobs().edit(job, edit), "NOT_FOUND: ");
    }
    JobId other = direct.jobs().enqueue(List.of(Job.of("send"))).getFirst().id();
    for (Operator operator : List.of(direct, remote)) {
      refuses(operator, it -> it.jobs().edit(other, NOT_JSON), "PAYLOAD_NOT_JSON: ");
    }
  }

  @Test
  void signals_and_decisions_have_the_same_answers() {
    for (Operator operator : List.of(direct, remote)) {
      JobId job = operator.jobs().enqueue(List.of(Job.of("waits").queue("waits"))).getFirst().id();
      assertThat(operator.jobs().signal(job, "go", new Json("1"), "k")).isFalse();
      assertThat(operator.jobs().signal(job, "go", new Json("2"), "k")).isTrue();
      Lease lease =
          holdfast
              .jobs()
              .claim(new ClaimRequest("waits", 1, "w", Duration.ofMinutes(5)))
              .jobs()
              .getFirst()
              .lease();
      Question question = Question.of("Raise it?").within(Duration.ofDays(1));
      holdfast.jobs().suspend(new Suspension(lease, 1, new Wait.ForApproval("limit", question)));
      assertThat(operator.jobs().find(job).map(JobStatus::waitsFor).map(OpenWait::text))
          .hasValue("a decision of role operator on 'limit': Raise it?");
      assertThat(operator.jobs().list(JobFilter.ALL.waits(WaitSort.APPROVAL)))
          .extracting(JobStatus::id)
          .containsExactly(job);
      assertThat(operator.jobs().list(JobFilter.ALL.waits(WaitSort.SLEEP))).isEmpty();
      refuses(operator, it -> decided(it, job, "other"), "NOT_ASKED: ");
      assertThat(decided(operator, job, "limit")).isTrue();
      refuses(operator, it -> decided(it, job, "limit"), "NOT_ASKED: ");
      assertThat(operator.jobs().find(job).orElseThrow().state()).isEqualTo(JobState.PENDING);
      operator.jobs().cancel(job, false, "enough");
      refuses(
          operator,
          it -> it.jobs().signal(job, "go", Json.EMPTY, null),
          "JOB_ALREADY_TERMINAL in CANCELLED: ");
      refuses(operator, it -> it.jobs().signal(JobId.next(), "go", Json.EMPTY, null), "NOT_FOUND");
      refuses(operator, it -> decided(it, JobId.next(), "limit"), "NOT_FOUND: ");
      refuses(operator, it -> it.jobs().signal(job, "a b", Json.EMPTY, null), "BAD_NAME: ");
    }
  }

  @Test
  void signals_by_key_have_the_same_answers() {
    for (Operator operator : List.of(direct, remote)) {
      String unique = JobId.next().toString();
      Job asked = Job.of("onboard").queue("waits").uniqueKey(unique);
      JobId job = operator.jobs().enqueue(List.of(asked)).getFirst().id();
      assertThat(told(operator, unique)).isEqualTo(new JobOperator.Told(job, false));
      assertThat(told(operator, unique)).isEqualTo(new JobOperator.Told(job, true));
      refuses(operator, it -> told(it, "nobody"), "NOT_FOUND: ");
      refuses(
          operator,
          it -> it.jobs().signal("onboard", unique, "acme", "go", Json.EMPTY, null),
          "NOT_FOUND: ");
      refuses(
          operator,
          it -> it.jobs().signal("a b", unique, null, "go", Json.EMPTY, null),
          "BAD_NAME: ");
      operator.jobs().cancel(job, false, "enough");
      refuses(operator, it -> told(it, unique), "NOT_FOUND: ");
    }
  }

  private static JobOperator.Told told(Operator operator, String unique) {
    return operator.jobs().signal("onboard", unique, null, "go", new Json("1"), "k");
  }

  @Test
  void forks_have_the_same_answers() {
    for (Operator operator : List.of(direct, remote)) {
      JobId job = operator.jobs().enqueue(List.of(Job.of("steps").queue("forks"))).getFirst().id();
      Lease lease =
          holdfast
              .jobs()
              .claim(new ClaimRequest("forks", 1, "w", Duration.ofMinutes(5)))
              .jobs()
              .getFirst()
              .lease();
      holdfast
          .jobs()
          .report(
              List.of(
                  new Report.Version(lease, 2),
                  Report.Step.done(lease, "one", 1, 1, new Json("1"), Duration.ofMillis(1))));
      Question question = Question.of("Raise it?").within(Duration.ofDays(1));
      holdfast.jobs().suspend(new Suspension(lease, 2, new Wait.ForApproval("limit", question)));
      JobStatus before = operator.jobs().find(job).orElseThrow();
      JobFork fork = new JobFork("limit", 2, new Json("7"), "k");
      JobOperator.Forked forked = operator.jobs().fork(job, fork);
      assertThat(forked.jobs()).hasSize(2);
      assertThat(forked.duplicate()).isFalse();
      assertThat(operator.jobs().fork(job, fork))
          .isEqualTo(new JobOperator.Forked(forked.jobs(), true));
      JobStatus one = operator.jobs().find(forked.jobs().getFirst()).orElseThrow();
      assertThat(one.forkedFrom()).isEqualTo(new ForkedFrom(job, "limit"));
      assertThat(one.version()).isEqualTo(2);
      assertThat(one.payload()).isEqualTo(new Json("7"));
      assertThat(
              operator
                  .jobs()
                  .show(job, JobDetail.Part.DEPENDENCIES)
                  .orElseThrow()
                  .dependencies()
                  .forks())
          .hasSize(2);
      assertThat(operator.jobs().find(job)).hasValue(before);
      refuses(
          operator, it -> it.jobs().fork(job, new JobFork("two", 1, null, null)), "NO_SUCH_STEP: ");
      refuses(
          operator, it -> it.jobs().fork(job, new JobFork("one", 2, null, "k")), "KEY_REUSED: ");
      refuses(
          operator,
          it -> it.jobs().fork(JobId.next(), new JobFork("one", 1, null, null)),
          "NOT_FOUND: ");
    }
  }

  @Test
  void links_and_notices_have_the_same_answers() {
    for (Operator operator : List.of(direct, remote)) {
      JobId job = operator.jobs().enqueue(List.of(Job.of("waits").queue("waits"))).getFirst().id();
      Lease lease =
          holdfast
              .jobs()
              .claim(new ClaimRequest("waits", 1, "w", Duration.ofMinutes(5)))
              .jobs()
              .getFirst()
              .lease();
      refuses(operator, it -> it.jobs().link(job, "limit"), "NOT_ASKED: ");
      Wait asked = new Wait.ForApproval("limit", Question.of("Raise it?"));
      holdfast.jobs().suspend(new Suspension(lease, 1, asked));
      ApprovalLinks.Link link = operator.jobs().link(job, "limit");
      client.get(link.url().getPath(), null).ok();
      assertThat(link.expiresAt()).isAfter(Instant.now().plus(Duration.ofDays(29)));
      refuses(operator, it -> it.jobs().link(job, "other"), "NOT_ASKED: ");
      refuses(operator, it -> it.jobs().link(JobId.next(), "limit"), "NOT_FOUND: ");
      Notices notices = holdfast.store().notices();
      notices.writeNotices();
      Notice.Try tried = notices.claimNotices(1, Duration.ofMinutes(1)).getFirst();
      notices.noticeFailed(tried, null, "the connection is refused", Duration.ofHours(1));
      Notice notice = operator.notices().list(Notice.State.PENDING, 10).getFirst();
      assertThat(notice).isEqualTo(direct.notices().list(null, 1).getFirst());
      assertThat(notice.jobId()).isEqualTo(job);
      assertThat(notice.lastError()).isEqualTo("the connection is refused");
      assertThat(operator.notices().list(Notice.State.DELIVERED, 10)).isEmpty();
      operator.notices().sendAgain(notice.id());
      assertThat(notices.claimNotices(1, Duration.ofMinutes(1))).hasSize(1);
      operator.jobs().cancel(job, false, "enough");
      refuses(operator, it -> again(it, notice.id()), "NOT_ASKED: ");
      refuses(operator, it -> again(it, UUID.randomUUID()), "NOT_FOUND: ");
      notices.supersedeNotices();
    }
  }

  private static boolean again(Operator operator, UUID notice) {
    operator.notices().sendAgain(notice);
    return true;
  }

  private static boolean decided(Operator operator, JobId job, String wait) {
    operator.jobs().decide(job, wait, true, "fine");
    return true;
  }

  @Test
  void a_running_job_is_neither_edited_nor_deleted() {
    JobId job = enqueued();
    leased();
    bothRefuse(
        operator -> operator.jobs().edit(job, JobEdit.NOTHING.priority(1)),
        "JOB_RUNNING in RUNNING: ");
    bothRefuse(operator -> operator.jobs().delete(job), "JOB_RUNNING in RUNNING: ");
  }

  @Test
  void a_job_is_shown_with_the_same_parts() {
    JobId job = enqueued();
    callback(
            leased(),
            "completed",
            failedBody(
                1,
                Map.of("category", "USER_CODE", "code", "X", "message", "no", "retryable", false)))
        .ok();
    Set<JobDetail.Part> all = EnumSet.allOf(JobDetail.Part.class);
    assertThat(
            both(operator ->
                    Wire.text(
                        JobDetailResource.of(operator.jobs().show(job, all).orElseThrow(), all)))
                .value()
                .toString())
        .contains("\"events\":[{", "\"receivedAt\":", "\"code\":\"X\"", "\"dependencies\":{");
  }

  @Test
  void many_jobs_are_counted_retried_and_cancelled_by_a_filter_page_by_page() {
    for (Operator operator : List.of(direct, remote)) {
      List<Job> jobs =
          Stream.generate(() -> Job.of("bulk").queue("bulk")).limit(JobFilter.MOST + 1).toList();
      operator.jobs().enqueue(jobs);
      JobFilter filter = JobFilter.ALL.kind("bulk");
      assertThat(operator.jobs().count(filter.states(JobState.ACTIVE)).count())
          .isEqualTo(jobs.size());
      JobOperator.Cancelled first =
          operator.jobs().cancel(new Selection.Matching(filter, null), false, "enough");
      JobOperator.Cancelled second =
          operator.jobs().cancel(new Selection.Matching(filter, first.next()), false, "enough");
      assertThat(first.cancelled()).isEqualTo(JobFilter.MOST);
      assertThat(second).isEqualTo(new JobOperator.Cancelled(1, 0, 0, 0, 0, null));
      JobFilter cancelled = filter.states(EnumSet.of(JobState.CANCELLED));
      JobOperator.Retried again = operator.jobs().retry(new Selection.Matching(cancelled, null));
      assertThat(operator.jobs().retry(new Selection.Matching(cancelled, again.next())).retried())
          .isEqualTo(1);
      db.sql("DELETE FROM holdfast.job WHERE kind = 'bulk'");
    }
    bothRefuse(
        operator ->
            operator
                .jobs()
                .retry(
                    new Selection.Matching(
                        JobFilter.ALL.states(EnumSet.of(JobState.SUCCEEDED)), null)),
        "only FAILED and CANCELLED jobs can be retried");
  }

  @Test
  void a_job_that_has_ended_is_not_cancelled() {
    JobId job = enqueued();
    direct.jobs().cancel(job, false, "why");
    bothRefuse(
        operator -> operator.jobs().cancel(job, false, "why"),
        "JOB_ALREADY_TERMINAL in CANCELLED: ");
  }

  @Test
  void unknown_jobs_have_the_same_answers() {
    JobId none = JobId.next();
    both(operator -> operator.jobs().find(none));
    both(operator -> operator.jobs().show(none, JobDetail.Part.EVENTS));
    both(operator -> operator.jobs().retry(new Selection.Ids(List.of(none))));
    for (Function<Operator, ?> act :
        Stream.<Function<Operator, ?>>of(
                operator -> operator.jobs().step(none, "build"),
                operator -> operator.jobs().patch(none, null),
                operator -> operator.jobs().patch(none, "build"),
                operator -> operator.jobs().cancel(none, true, "why"),
                operator -> operator.jobs().edit(none, JobEdit.NOTHING.priority(1)),
                operator -> operator.jobs().delete(none),
                operator -> operator.jobs().command(none, CommandAction.PAUSE, null, "why"))
            .toList()) {
      bothRefuse(act, "NOT_FOUND: there is no job " + none);
    }
  }
}
