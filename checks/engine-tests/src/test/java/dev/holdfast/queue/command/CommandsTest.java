package dev.holdfast.queue.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobCommand.Answer;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.report.StepsTest;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CommandsTest extends QueueFixture {
  private Answer ask(JobId job, CommandAction action, @Nullable String step) {
    return command(job, action, step).answer();
  }

  private JobCommand.Outcome command(JobId job, CommandAction action, @Nullable String step) {
    return queue.command(job, new JobCommand(action, step, "ada", "it looks odd"), Tenant.ANY);
  }

  private void step(Lease lease, int index, StepState state) {
    queue.report(
        List.of(
            new Report.Step(
                lease, "s" + index, index, state, 1, false, null, null, null, null, List.of())));
  }

  private PendingCommand heard(Lease lease) {
    PendingCommand heard = queue.heartbeat(List.of(lease), LEASE).getFirst().pendingCommand();
    // Between heartbeats the same command is returned; jobs without a command are not listed.
    assertThat(
            queue.commands(WORKER).stream()
                .map(HeartbeatResult::pendingCommand)
                .findFirst()
                .orElse(heard))
        .isEqualTo(heard);
    return heard;
  }

  @Test
  void a_heartbeat_returns_a_pause_until_the_job_is_resumed() {
    Lease lease = running();
    step(lease, 1, StepState.RUNNING);
    assertThat(heard(lease)).isEqualTo(PendingCommand.NONE);
    assertThat(ask(lease.job(), CommandAction.PAUSE, null)).isEqualTo(Answer.ACCEPTED);
    PendingCommand.HeldBy ada = new PendingCommand.HeldBy("ada", "it looks odd");
    assertThat(heard(lease)).isEqualTo(new PendingCommand(true, false, null, ada));
    assertThat(ask(lease.job(), CommandAction.TAKEOVER, null)).isEqualTo(Answer.ACCEPTED);
    assertThat(heard(lease)).isEqualTo(new PendingCommand(true, true, null, ada));
    assertThat(ask(lease.job(), CommandAction.RESUME, null)).isEqualTo(Answer.ACCEPTED);
    assertThat(heard(lease)).isEqualTo(PendingCommand.NONE);
    assertThat(queue.commands(WORKER)).isEmpty();
    assertThat(queries.pendingCommand(lease.job())).isEqualTo(PendingCommand.NONE);
  }

  @Test
  void the_timeline_names_the_operator_and_the_reason_of_a_command() {
    Lease lease = running();
    step(lease, 1, StepState.RUNNING);
    ask(lease.job(), CommandAction.HARD_RESET_STEP, "s1");
    assertThat(events(lease.job())).endsWith(EventType.CONTROL + "hard_reset_step");
    assertThat(queries.timeline(lease.job()).getLast().data().text())
        .contains("\"requestedBy\": \"ada\"", "\"reason\": \"it looks odd\"", "\"stepId\": \"s1\"");
  }

  @Test
  void a_step_command_is_pending_until_the_worker_acknowledges_it() {
    Lease lease = running();
    step(lease, 1, StepState.FAILED);
    ask(lease.job(), CommandAction.RETRY_STEP, "s1");
    PendingCommand.Recovery first = Objects.requireNonNull(heard(lease).recovery());
    assertThat(first.action()).isEqualTo(CommandAction.RETRY_STEP);
    assertThat(first.stepId()).isEqualTo("s1");
    ask(lease.job(), CommandAction.HARD_RESET_STEP, "s1");
    PendingCommand.Recovery second = Objects.requireNonNull(heard(lease).recovery());
    handle(lease, first, 2);
    assertThat(heard(lease).recovery()).as("a later request stays").isEqualTo(second);
    queue.command(
        lease.job(), new JobCommand(CommandAction.PAUSE, null, "bob", "not now"), Tenant.ANY);
    assertThat(heard(lease))
        .as("with the operator who asked for it")
        .isEqualTo(new PendingCommand(true, false, second, null));
    handle(lease, second, 3);
    assertThat(heard(lease)).isEqualTo(new PendingCommand(true, false, null, null));
    ask(lease.job(), CommandAction.RESUME, null);
    ask(lease.job(), CommandAction.RETRY_STEP, "s1");
    handle(lease, Objects.requireNonNull(heard(lease).recovery()), 4);
    assertThat(heard(lease)).isEqualTo(PendingCommand.NONE);
  }

  private void handle(Lease lease, PendingCommand.Recovery recovery, int attempt) {
    queue.report(
        List.of(
            new Report.Step(
                lease,
                "s1",
                1,
                StepState.RUNNING,
                attempt,
                false,
                null,
                null,
                null,
                recovery.updatedAt(),
                List.of(StepsTest.entry(EventType.RECOVERY_ACK)))));
  }

  @Test
  void a_resume_keeps_a_pending_step_command() {
    Lease lease = running();
    step(lease, 1, StepState.FAILED);
    ask(lease.job(), CommandAction.PAUSE, null);
    ask(lease.job(), CommandAction.HARD_RESET_STEP, "s1");
    ask(lease.job(), CommandAction.RESUME, null);
    PendingCommand pending = heard(lease);
    assertThat(pending.holds()).isFalse();
    assertThat(pending.recovery()).isNotNull();
  }

  @Test
  void an_operators_retry_clears_pending_commands_and_step_budgets() {
    Lease lease = running();
    queue.report(
        List.of(
            new Report.Step(
                lease, "s1", 1, StepState.FAILED, 1, true, null, null, null, null, List.of())));
    ask(lease.job(), CommandAction.PAUSE, null);
    queue.settle(fail(lease, Failure.of(FailureCategory.CONFIGURATION, "BROKEN", "for good")));
    queue.retry(List.of(lease.job()), Tenant.ANY);
    assertThat(queries.pendingCommand(lease.job())).isEqualTo(PendingCommand.NONE);
    assertThat(queries.steps(lease.job()).getFirst().resets()).isZero();
  }

  @Test
  void commands_accept_steps_that_have_begun_or_are_named_in_the_payload() {
    Lease lease =
        addAndClaim(
            Job.of("test", Map.of("steps", List.of(Map.of("id", "s1"), Map.of("id", "s2")))));
    assertThat(ask(lease.job(), CommandAction.RETRY_STEP, "nonsense"))
        .isEqualTo(Answer.NO_SUCH_STEP);
    assertThat(ask(lease.job(), CommandAction.RETRY_STEP, "s1")).isEqualTo(Answer.ACCEPTED);
    assertThat(ask(lease.job(), CommandAction.RESUME_FROM_STEP, "s2"))
        .isEqualTo(Answer.STEP_NOT_REACHED);
    step(lease, 1, StepState.DONE);
    assertThat(ask(lease.job(), CommandAction.RESUME_FROM_STEP, "s2")).isEqualTo(Answer.ACCEPTED);
    assertThat(ask(lease.job(), CommandAction.RESUME_FROM_STEP, "s1")).isEqualTo(Answer.ACCEPTED);
    assertThat(ask(lease.job(), CommandAction.RETRY_STEP, "s1")).isEqualTo(Answer.STEP_DONE);
  }

  @Test
  void a_job_in_any_terminal_state_can_be_resumed_from_a_step() {
    for (boolean well : List.of(true, false)) {
      Lease lease = running();
      step(lease, 1, StepState.DONE);
      step(lease, 2, StepState.DONE);
      queue.settle(
          well
              ? succeed(lease)
              : fail(lease, Failure.of(FailureCategory.CONFIGURATION, "BROKEN", "for good")));
      List<String> before = events(lease.job());
      assertThat(ask(lease.job(), CommandAction.RETRY_STEP, "s2")).isEqualTo(Answer.STEP_DONE);
      assertThat(ask(lease.job(), CommandAction.RESUME_FROM_STEP, "s2")).isEqualTo(Answer.ACCEPTED);
      JobStatus job = queries.find(lease.job()).orElseThrow();
      assertThat(job.state()).isEqualTo(JobState.PENDING);
      assertThat(job.result()).isNull();
      assertThat(Objects.requireNonNull(queries.pendingCommand(lease.job()).recovery()).stepId())
          .isEqualTo("s2");
      assertThat(events(lease.job()))
          .startsWith(before.toArray(String[]::new))
          .endsWith(EventType.RETRIED, EventType.CONTROL + "resume_from_step");
      Lease again = claimOne();
      assertThat(again).isEqualTo(new Lease(lease.job(), 2));
      queue.settle(succeed(again));
      assertThat(queries.attempts(lease.job()))
          .extracting(Attempt::outcome)
          .containsExactly(
              well ? AttemptOutcome.SUCCEEDED : AttemptOutcome.FAILED, AttemptOutcome.SUCCEEDED);
      assertThat(queries.timeline(lease.job()).stream().map(JobEvent::number))
          .containsExactlyElementsOf(
              IntStream.rangeClosed(1, queries.timeline(lease.job()).size()).boxed().toList());
    }
  }

  @Test
  void a_job_with_an_unreadable_payload_cannot_be_resumed_from_a_step() {
    Lease lease = running();
    step(lease, 1, StepState.DONE);
    queue.settle(fail(lease, HOPELESS));
    db.sql(
        "INSERT INTO holdfast.unreadable_payload (job_id, found_at) VALUES (?, now())",
        lease.job().value());
    assertThat(ask(lease.job(), CommandAction.RESUME_FROM_STEP, "s1"))
        .isEqualTo(Answer.ALREADY_TERMINAL);
    assertThat(state(lease.job())).isEqualTo(JobState.FAILED);
  }

  @Test
  void a_hard_reset_lists_the_steps_it_will_repeat() {
    Lease lease = running();
    step(lease, 1, StepState.DONE);
    step(lease, 2, StepState.DONE);
    step(lease, 3, StepState.DONE);
    step(lease, 4, StepState.FAILED);
    assertThat(command(lease.job(), CommandAction.HARD_RESET_STEP, "s4").stepsToRepeat()).isEmpty();
    assertThat(queries.timeline(lease.job()).getLast().data().text())
        .doesNotContain("stepsToRepeat");
    assertThat(command(lease.job(), CommandAction.HARD_RESET_STEP, "s2").stepsToRepeat())
        .containsExactly("s2", "s3");
    assertThat(queries.timeline(lease.job()).getLast().data().text())
        .contains("\"stepsToRepeat\": [\"s2\", \"s3\"]");
  }

  @Test
  void a_worker_that_is_quick_does_not_change_the_answer() {
    Lease lease = running();
    step(lease, 1, StepState.DONE);
    // Handles the command in the moment in which it is committed.
    db.sql(
        "CREATE FUNCTION handled() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN"
            + " DELETE FROM holdfast.job_command WHERE job_id = NEW.job_id; RETURN NULL; END'");
    db.sql(
        "CREATE CONSTRAINT TRIGGER handled AFTER INSERT ON holdfast.job_command"
            + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION handled()");
    try {
      JobCommand.Outcome outcome = command(lease.job(), CommandAction.HARD_RESET_STEP, "s1");
      assertThat(heard(lease)).isEqualTo(PendingCommand.NONE);
      assertThat(outcome.stepsToRepeat()).containsExactly("s1");
      assertThat(Objects.requireNonNull(outcome.pending().recovery()).stepId()).isEqualTo("s1");
    } finally {
      db.sql("DROP FUNCTION handled() CASCADE");
    }
  }

  @Test
  void a_step_can_be_accepted_only_after_a_takeover() {
    Lease lease =
        addAndClaim(
            Job.of("test", Map.of("steps", List.of(Map.of("id", "s1"), Map.of("id", "s2")))));
    step(lease, 1, StepState.FAILED);
    assertThat(ask(lease.job(), CommandAction.ACCEPT_STEP, "s1")).isEqualTo(Answer.NOT_TAKEN_OVER);
    ask(lease.job(), CommandAction.TAKEOVER, null);
    assertThat(ask(lease.job(), CommandAction.ACCEPT_STEP, "s2"))
        .isEqualTo(Answer.STEP_NOT_REACHED);
    assertThat(ask(lease.job(), CommandAction.ACCEPT_STEP, "s1")).isEqualTo(Answer.ACCEPTED);
    PendingCommand heard = heard(lease);
    assertThat(heard.takeover()).as("the takeover ends with it").isFalse();
    assertThat(Objects.requireNonNull(heard.recovery()).action())
        .isEqualTo(CommandAction.ACCEPT_STEP);
    Lease code = running();
    step(code, 1, StepState.FAILED);
    ask(code.job(), CommandAction.TAKEOVER, null);
    assertThat(ask(code.job(), CommandAction.ACCEPT_STEP, "s1")).isEqualTo(Answer.NO_WORKSPACE);
  }

  @Test
  void a_job_that_has_run_without_steps_cannot_be_paused_or_taken_over() {
    JobId unknown = add(job());
    assertThat(ask(unknown, CommandAction.PAUSE, null)).isEqualTo(Answer.ACCEPTED);
    ask(unknown, CommandAction.RESUME, null);
    Lease lease = claimOne();
    // A step of code is reported when it is done, or has run for a moment.
    assertThat(ask(lease.job(), CommandAction.PAUSE, null)).isEqualTo(Answer.ACCEPTED);
    ask(lease.job(), CommandAction.RESUME, null);
    set(lease.job(), "started_at = started_at - interval '1 minute'");
    for (CommandAction action : List.of(CommandAction.PAUSE, CommandAction.TAKEOVER)) {
      assertThat(ask(lease.job(), action, null)).isEqualTo(Answer.NO_STEPS);
    }
    assertThat(heard(lease)).isEqualTo(PendingCommand.NONE);
    step(lease, 1, StepState.RUNNING);
    assertThat(ask(lease.job(), CommandAction.PAUSE, null)).isEqualTo(Answer.ACCEPTED);
  }

  @Test
  void an_invalid_command_is_refused_and_writes_no_event() {
    JobId waiting = add(job());
    assertThat(ask(waiting, CommandAction.TAKEOVER, null)).isEqualTo(Answer.NOT_RUNNING);
    assertThat(ask(JobId.next(), CommandAction.PAUSE, null)).isEqualTo(Answer.NO_SUCH_JOB);
    assertThat(
            queue
                .command(
                    waiting,
                    new JobCommand(CommandAction.PAUSE, null, "x", "y"),
                    Tenant.of("another"))
                .answer())
        .isEqualTo(Answer.NO_SUCH_JOB);
    Lease ended = claimOne();
    queue.settle(succeed(ended));
    assertThat(ask(ended.job(), CommandAction.PAUSE, null)).isEqualTo(Answer.ALREADY_TERMINAL);
    assertThat(events(waiting))
        .containsExactly(EventType.CREATED, EventType.PROCESSING, EventType.DONE);
    assertRefused(Refusal.BAD_NAME, () -> new JobCommand(CommandAction.RETRY_STEP, null, "x", "y"));
    assertRefused(Refusal.BAD_NAME, () -> new JobCommand(CommandAction.PAUSE, "s1", "x", "y"));
    assertRefused(Refusal.BAD_NAME, () -> CommandAction.of("explode"));
  }
}
