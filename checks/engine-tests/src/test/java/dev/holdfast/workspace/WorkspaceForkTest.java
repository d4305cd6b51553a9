package dev.holdfast.workspace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

  private static final String CHANGE = "{\"id\": \"change\", \"runtime\": \"change\"}";
  private static final String WAIT = "{\"wait\": \"signal\", \"id\": \"go\", \"signal\": \"go\"}";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "OTHER, USE, LAST   | what was done as step 1 is 'change', and the payload has 'other' there",
        "CHANGE, WAIT, LAST | what was done as step 2 is 'use', and the payload has 'go' there",
        "CHANGE             | what was done as step 2 is 'use', and the payload has no more than 1 there"
      })
  void a_fork_whose_payload_has_other_steps_in_the_place_of_those_that_are_done_fails_for_good(
      String steps, String words) throws Exception {
    for (String name : new String[] {"change", "use", "last", "other"}) {
      runtimes.put(name, "echo " + name + " | tee -a \"$MARKS/ran\" > " + name);
    }
    JobId job = enqueued("change", "use", "last");
    working();
    await(job, JobState.SUCCEEDED);
    String payload =
        "{\"objective\": \"x\", \"repository\": {\"url\": \"%s\", \"ref\": \"main\"}, \"steps\": [%s]}"
            .formatted(
                folder.resolve("repo"),
                steps
                    .replace("WAIT", WAIT)
                    .replace("CHANGE", CHANGE)
                    .replace("OTHER", CHANGE.replace("change", "other"))
                    .replace("USE", CHANGE.replace("change", "use"))
                    .replace("LAST", CHANGE.replace("change", "last")));
    JobId fork =
        holdfast
            .jobs()
            .fork(job, new JobFork("last", 1, new Json(payload), null), "ada", Tenant.ANY)
            .jobs()
            .getFirst();
    await(fork, JobState.FAILED);
    assertThat(failure(fork).code()).isEqualTo("STEPS_DIFFER");
    assertThat(failure(fork).category()).isEqualTo(FailureCategory.CONFIGURATION);
    assertThat(failure(fork).retryable()).isFalse();
    assertThat(failure(fork).message()).contains(words);
    assertThat(attempts(fork)).hasSize(1);
    assertThat(sh("cat ran").lines()).containsExactly("change", "use", "last");
  }
}
