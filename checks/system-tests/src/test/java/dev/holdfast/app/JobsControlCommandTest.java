package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code jobs control}. */
class JobsControlCommandTest extends OperatorCommandFixture {
  @Test
  void a_job_is_paused_taken_over_and_resumed(TestDatabase db) throws IOException {
    Lease lease = running();
    String job = lease.job().toString();
    // Long enough to have reported a first step.
    db.sql("UPDATE holdfast.job SET started_at = started_at - interval '1 minute'");
    assertThat(run("jobs", "control", job, "pause")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("has started no step");
    step(lease, 1, StepState.RUNNING);
    assertThat(run("jobs", "control", job, "pause", "--reason", "a moment")).isZero();
    assertThat(said()).contains(job).contains("paused").doesNotContain("no step");
    assertThat(run("jobs", "show", job)).isZero();
    assertThat(said()).contains("paused: no further attempt");
    assertThat(run("jobs", "control", job, "takeover", "--json")).isZero();
    assertThat(json().get("paused").asBoolean()).isTrue();
    assertThat(json().get("takeover").asBoolean()).isTrue();
    assertThat(run("jobs", "show", job)).isZero();
    assertThat(said()).contains("taken over").contains("a moment");
    assertThat(run("jobs", "show", job, "--json")).isZero();
    assertThat(json().get("liveControl").get("takeover").asBoolean()).isTrue();
    assertThat(run("jobs", "control", job, "resume")).isZero();
    assertThat(said()).contains("no command is pending");
    assertThat(run("jobs", "show", job, "--json")).isZero();
    assertThat(json().has("liveControl")).isFalse();
  }

  @Test
  void a_takeover_names_the_workspace_once_the_worker_has_reported_it() throws IOException {
    Lease lease = running();
    String job = lease.job().toString();
    step(lease, 1, StepState.RUNNING);
    assertThat(run("jobs", "control", job, "takeover")).isZero();
    assertThat(said()).contains("taken over").contains("not answered yet").contains("jobs show");
    holdfast
        .jobs()
        .report(
            List.of(
                new Report.Event(
                    lease,
                    EventType.RECOVERY_ACK,
                    new Json("{\"action\": \"takeover\", \"workspace\": \"/srv/here\"}"))));
    assertThat(run("jobs", "control", job, "takeover")).isZero();
    assertThat(said()).contains("its workspace is /srv/here");
    assertThat(run("jobs", "show", job)).isZero();
    assertThat(said()).contains("its workspace is /srv/here");
    run("jobs", "control", job, "resume");
    run("jobs", "control", job, "pause", "--reason", " ");
    assertThat(run("jobs", "show", job)).isZero();
    assertThat(said()).doesNotContain("its workspace is").contains("no reason given");
  }

  @Test
  void a_step_is_retried_or_reset_by_command() throws IOException {
    Lease lease = running();
    String job = lease.job().toString();
    step(lease, 1, StepState.DONE);
    step(lease, 2, StepState.FAILED);
    assertThat(run("jobs", "control", job, "hard_reset_step", "--step", "s2", "-r", "odd"))
        .isZero();
    assertThat(said())
        .contains("hard_reset_step of 's2' was requested by " + requester() + ": odd");
    assertThat(run("jobs", "control", job, "retry_step", "--step", "s1"))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("resume_from_step");
    assertThat(run("jobs", "control", job, "resume_from_step", "--step", "s1", "--json")).isZero();
    assertThat(json().get("recovery").get("strategy").asText()).isEqualTo("hard_reset");
    assertThat(json().get("recovery").get("requestedBy").asText()).isEqualTo(requester());
    assertThat(json().get("stepsToRepeat")).hasToString("[\"s1\"]");
    holdfast.jobs().settle(new Settlement.Succeed(lease, null));
    assertThat(run("jobs", "control", job, "resume_from_step", "--step", "s1")).isZero();
    assertThat(said()).contains("these completed steps will run again: s1");
  }

  @Test
  void a_rejected_command_is_one_line_that_lists_the_possible_ones() throws IOException {
    Lease lease = running();
    String job = lease.job().toString();
    assertThat(run("jobs", "control", job, "explode")).isEqualTo(ExitCode.USAGE);
    assertThat(complained()).contains("resume_from_step");
    assertThat(run("jobs", "control", job)).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "control", job, "retry_step")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "control", job, "pause", "--step", "s1")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "control", job, "retry_step", "--step", "s9"))
        .isEqualTo(ExitCode.NOT_FOUND);
    assertThat(complained()).contains("jobs steps " + job);
    assertThat(run("jobs", "control", job, "retry_step", "--step", "a b"))
        .isEqualTo(ExitCode.REFUSED);
    step(lease, 2, StepState.RUNNING);
    assertThat(run("jobs", "control", job, "retry_step", "--step", "s2"))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(run("jobs", "control", JobId.next().toString(), "pause"))
        .isEqualTo(ExitCode.NOT_FOUND);
    holdfast.jobs().settle(new Settlement.Succeed(lease, null));
    assertThat(run("jobs", "control", job, "pause")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained())
        .contains("has already ended", "resume_from_step")
        .doesNotContain("retry");
    String cancelled = holdfast.enqueue(Job.of("build")).id().toString();
    run("jobs", "cancel", cancelled);
    assertThat(run("jobs", "control", cancelled, "pause")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("jobs retry").doesNotContain("\tat ");
    assertThat(complained().lines()).hasSize(1);
    String waiting = holdfast.enqueue(Job.of("build")).id().toString();
    assertThat(run("jobs", "control", waiting, "takeover")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("pause");
    assertThat(run("jobs", "control", waiting, "pause")).isZero();
    assertThat(said()).contains("no step of it has started");
  }
}
