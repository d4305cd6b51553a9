package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Forks, versions, and signals by unique key, on the command line. */
class ForkCommandsTest extends CommandFixture {
  private String output() {
    return said() + complained();
  }

  private Lease leased(Job job) {
    JobId id = holdfast.enqueue(job).id();
    Lease lease =
        holdfast
            .jobs()
            .claim(new ClaimRequest("default", 1, "w", Duration.ofMinutes(5)))
            .jobs()
            .getFirst()
            .lease();
    assertThat(lease.job()).isEqualTo(id);
    return lease;
  }

  private JobId done() {
    Lease lease = leased(Job.of("build", "a"));
    holdfast
        .jobs()
        .report(
            List.of(
                new Report.Version(lease, 3),
                Report.Step.done(lease, "one", 1, 1, new Json("1"), Duration.ofMillis(5))));
    holdfast
        .jobs()
        .report(List.of(Report.Step.done(lease, "two", 2, 1, new Json("2"), Duration.ofMillis(5))));
    holdfast.jobs().settle(new Settlement.Succeed(lease, null));
    return lease.job();
  }

  @Test
  void a_job_is_forked_from_a_step_and_both_name_each_other() throws IOException {
    JobId job = done();
    assertThat(
            run("jobs", "fork", job.toString(), "--from-step", "two", "--times", "2", "--key", "k"))
        .isZero();
    List<JobId> forks =
        holdfast.queries().dependencies(job).forks().stream().map(each -> each.id()).toList();
    assertThat(forks).hasSize(2);
    assertThat(output()).contains(forks.getFirst().toString(), forks.getLast().toString());
    assertThat(run("jobs", "show", forks.getFirst().toString())).isZero();
    assertThat(output()).contains("fork of", job + ", from 'two'", "version");
    assertThat(run("jobs", "show", job.toString())).isZero();
    assertThat(output()).contains("forked to", forks.getFirst().toString());
    assertThat(
            run(
                "jobs",
                "fork",
                job.toString(),
                "--from-step",
                "two",
                "--times",
                "2",
                "--key",
                "k",
                "--json"))
        .isZero();
    assertThat(output()).contains("\"duplicate\" : true", forks.getFirst().toString());
    assertThat(run("jobs", "show", forks.getFirst().toString(), "--json")).isZero();
    assertThat(output()).contains("\"forkedFrom\"", "\"stepId\" : \"two\"", "\"version\" : 3");
  }

  @Test
  void a_fork_that_cannot_be_made_says_why() throws IOException {
    JobId job = done();
    assertThat(run("jobs", "fork", job.toString(), "--from-step", "three"))
        .isEqualTo(ExitCode.NOT_FOUND);
    assertThat(output()).contains("no step 'three'", "one, two");
    assertThat(run("jobs", "fork", job.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "fork", job.toString(), "--from-step", "two", "--times", "101"))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(output()).contains("between 1 and 100");
    assertThat(run("jobs", "fork", JobId.next().toString(), "--from-step", "two"))
        .isEqualTo(ExitCode.NOT_FOUND);
    assertThat(run("jobs", "fork", job.toString(), "--from-step", "two", "--payload", "{"))
        .isEqualTo(ExitCode.REFUSED);
  }

  @Test
  void a_version_that_no_worker_has_is_in_health_and_said_of_its_job() throws IOException {
    Lease lease = leased(Job.of("build", "a"));
    holdfast.jobs().report(List.of(new Report.Version(lease, 3)));
    holdfast.jobs().settle(new Settlement.Release(lease, false));
    database.sql("UPDATE holdfast.job SET run_at = now() - interval '1 hour'");
    run("health");
    assertThat(output()).contains("1 job of kind 'build'", "version 3, which no worker has since");
    assertThat(run("jobs", "show", lease.job().toString())).isZero();
    assertThat(output()).contains("not running", "version 3, which no worker has since");
  }

  @Test
  void a_signal_finds_the_job_by_its_unique_key() throws IOException {
    JobId job = holdfast.enqueue(Job.of("onboard").uniqueKey("ada")).id();
    assertThat(run("jobs", "signal", "--kind", "onboard", "--unique-key", "ada", "go", "1"))
        .isZero();
    assertThat(output()).contains(job + "  told");
    assertThat(run("jobs", "signal", "--kind", "onboard", "--unique-key", "eve", "go"))
        .isEqualTo(ExitCode.NOT_FOUND);
    assertThat(output()).contains("no job of kind 'onboard' has the unique key 'eve'");
    assertThat(run("jobs", "signal", "--kind", "onboard", "go", "1")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "signal", job.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "signal", "--kind", "onboard", "--unique-key", "ada", "go", "1", "2"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(
            run(
                "jobs",
                "signal",
                "--kind",
                "onboard",
                "--unique-key",
                "ada",
                "--tenant",
                "acme",
                "go"))
        .isEqualTo(ExitCode.NOT_FOUND);
  }
}
