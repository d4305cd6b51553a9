package dev.holdfast.workspace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import org.junit.jupiter.api.Test;

/** A fork of a job that works in a workspace makes its own from the patches before its step. */
class WorkspaceForkTest extends WorkspaceFixture {
  @Test
  void a_fork_begins_with_the_changes_of_the_steps_before_it_and_does_the_others_again()
      throws Exception {
    runtimes.put("change", "echo change >> \"$MARKS/ran\"; printf 'new\\n' > c.txt");
    runtimes.put("use", "echo use >> \"$MARKS/ran\"; cp c.txt d.txt");
    JobId job = enqueued("change", "use");
    working();
    await(job, JobState.SUCCEEDED);
    JobId fork =
        holdfast
            .jobs()
            .fork(job, new JobFork("use", 1, null, null), "ada", Tenant.ANY)
            .jobs()
            .getFirst();
    await(fork, JobState.SUCCEEDED);
    assertThat(sh("cat ran").lines()).containsExactly("change", "use", "use");
    assertThat(patch(fork, "change")).isEqualTo(patch(job, "change"));
    assertThat(patch(fork, "use")).contains("d.txt").contains("+new");
    assertThat(new String(holdfast.queries().patches(fork).orElseThrow().bytes(), UTF_8))
        .contains("c.txt")
        .contains("d.txt");
  }
}
