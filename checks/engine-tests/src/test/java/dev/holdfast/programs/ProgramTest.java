package dev.holdfast.programs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs as handlers: their input, their messages, and their end. */
@OnlyWithAll
class ProgramTest extends ProgramFixture {
  // ---- its input

  @Test
  void reads_its_job_from_a_file() {
    JobId id =
        ran(
            shell("printf 'holdfast: {\"output\": %s}\\n' \"$(tr -d '\\n' < \"$HOLDFAST_JOB\")\""),
            Job.of("program", Map.of("n", 1))
                .owner("acme", "lab")
                .assetId("orders")
                .resources(Map.of("cpu", 2)));
    assertThat(await(id, JobState.SUCCEEDED).result()).isNotNull();
    assertThat(result(id))
        .contains("\"taskId\": \"" + id + "\"")
        .contains("\"kind\": \"program\"")
        .contains("\"attempt\": 1")
        .contains("\"tenantId\": \"acme\"")
        .contains("\"payload\": {\"n\": 1}")
        .contains("\"assetId\": \"orders\"")
        .contains("\"resources\": {\"cpu\": 2}")
        .doesNotContain("traceparent");
  }

  @Test
  void runs_in_its_own_folder_which_is_deleted_after_success() throws IOException {
    JobId id = ran("[ \"$PWD\" = \"$HOLDFAST_SCRATCH\" ] && echo work > file");
    await(id, JobState.SUCCEEDED);
    assertThat(files(scratchRoot())).isEmpty();
  }

  @Test
  void inherits_only_allowed_and_configured_environment_variables() {
    JobId id =
        ran(
            kind(
                List.of(
                    "sh",
                    "-c",
                    "printf 'holdfast: {\"output\": \"%s\"}\\n' \"$(env | cut -d= -f1 | sort | tr '\\n' ' ')\""),
                Map.of("MODE", "fast")),
            Job.of("program"));
    List<String> seen = List.of(result(id).replace("\"", "").strip().split(" "));
    assertThat(seen)
        .contains(
            "MODE", "PATH", "TMPDIR", "HOLDFAST_JOB", "HOLDFAST_SCRATCH", "HOLDFAST_ARTIFACTS")
        .isSubsetOf(
            "MODE",
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "LANG",
            "LANGUAGE",
            "TZ",
            "TMPDIR",
            "LC_ALL",
            "LC_CTYPE",
            "HOLDFAST_JOB",
            "HOLDFAST_SCRATCH",
            "HOLDFAST_ARTIFACTS",
            "HOLDFAST_MARK",
            "PWD",
            "OLDPWD",
            "SHLVL",
            "_");
  }

  @Test
  void a_payload_is_never_part_of_the_command() {
    JobId id = ran(shell("echo ok"), Job.of("program", Map.of("x", "$(touch /tmp/x); `id`")));
    await(id, JobState.SUCCEEDED);
  }

  // ---- its messages

  @Test
  void reports_progress_events_and_its_result() {
    JobId id =
        ran(
            "echo 'holdfast: {\"event\": {\"type\": \"source:ready\", \"data\": {\"n\": 2}}}';"
                + " echo 'holdfast: {\"progress\": 50.5, \"message\": \"half\"}';"
                + " echo 'just a line';"
                + " echo 'holdfast: {\"progress\": 100}';"
                + " echo 'holdfast: {\"output\": {\"answer\": 42}}'");
    assertThat(await(id, JobState.SUCCEEDED).progress()).isEqualTo(100);
    assertThat(result(id)).isEqualTo("{\"answer\": 42}");
    assertThat(timeline(id))
        .startsWith("created", "processing", "source:ready", "progress")
        .endsWith("done");
  }

  @Test
  void messages_on_standard_error_are_ignored() {
    JobId id = ran("echo 'holdfast: {\"output\": 1}' >&2");
    assertThat(await(id, JobState.SUCCEEDED).result()).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"output\"",
        "nonsense",
        "{\"event\": {}}",
        "{\"event\": {\"type\": \"done\"}}",
        "{\"event\": {\"type\": \"no such word\"}}",
        "{\"progress\": \"far\"}",
        "{\"failure\": {\"category\": \"NO_SUCH\"}}"
      })
  void an_invalid_message_is_logged_and_otherwise_ignored(String line) throws IOException {
    JobId id =
        ran(
            kind(List.of("sh", "-c", "echo \"holdfast: $LINE\"; exit 3"), Map.of("LINE", line)),
            Job.of("program").maxAttempts(1));
    assertThat(failure(id).code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(Files.readString(scratch(id, 1).resolve(".holdfast/output.log")))
        .contains("holdfast: " + line)
        .contains("does not understand the line above");
    assertThat(timeline(id)).containsExactly("created", "processing", "failed");
  }

  @Test
  void at_most_a_thousand_events_are_stored() {
    JobId id =
        ran(
            "i=0; while [ $i -lt 1100 ]; do i=$((i+1));"
                + " echo 'holdfast: {\"event\": {\"type\": \"tick\"}}'; done");
    await(id, JobState.SUCCEEDED);
    assertThat(timeline(id)).filteredOn("tick"::equals).hasSize(1_000);
  }

  // ---- its exit

  @ParameterizedTest
  @CsvSource({
    "65, DATA_QUALITY, false",
    "75, INFRASTRUCTURE, true",
    "78, CONFIGURATION, false",
    "1, USER_CODE, true",
    "127, USER_CODE, true"
  })
  void the_exit_code_decides_the_category(int exit, FailureCategory category, boolean retryable) {
    JobId id = ran(shell("echo why it failed >&2; exit " + exit), Job.of("program").maxAttempts(2));
    Failure failure = failure(id);
    assertThat(failure.category()).isEqualTo(category);
    assertThat(failure.message()).contains("sh exited with " + exit + ": why it failed");
    assertThat(job(id).attempt()).isEqualTo(retryable ? 2 : 1);
    if (!retryable) {
      assertThat(failure.code()).isEqualTo("EXIT_" + exit);
    }
  }

  @Test
  void a_reported_failure_counts_whatever_the_exit_code() {
    JobId id =
        ran(
            "echo 'holdfast: {\"failure\": {\"category\": \"DATA_QUALITY\","
                + " \"code\": \"INPUT_TOO_LARGE\", \"message\": \"too long\"}}'");
    assertThat(failure(id).code()).isEqualTo(Failure.INPUT_TOO_LARGE);
    assertThat(failure(id).message()).isEqualTo("too long");
  }

  @Test
  void a_killed_program_fails_with_its_signal() {
    JobId id = ran("kill -9 $$");
    assertThat(failure(id).message()).contains("sh was killed by signal 9");
  }

  @Test
  void a_missing_program_is_a_configuration_failure_that_names_it() {
    JobId id = ran(kind(List.of("no-such-program"), Map.of()), Job.of("program"));
    assertThat(await(id, JobState.FAILED).attempt()).isEqualTo(1);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.CONFIGURATION);
    assertThat(failure(id).code()).isEqualTo("PROGRAM_MISSING");
    assertThat(failure(id).message()).contains("'no-such-program' is not on the PATH");
  }

  @Test
  void a_script_beside_the_settings_is_found_from_its_scratch_folder() throws IOException {
    Script.write(
        folder.resolve("hello.sh"), "#!/bin/sh\necho \"holdfast: {\\\"output\\\": \\\"$1\\\"}\"\n");
    JobId id = ran(kind(List.of("./hello.sh", "hi"), Map.of()), Job.of("program"));
    assertThat(result(id)).isEqualTo("\"hi\"");
  }

  // ---- its artifacts

  @Test
  void files_in_its_artifacts_folder_are_published() throws IOException {
    JobId id =
        ran(
            shell(
                "echo one > \"$HOLDFAST_ARTIFACTS/a.txt\"; echo two > \"$HOLDFAST_ARTIFACTS/b.txt\";"
                    + " echo 'holdfast: {\"output\": 7}'",
                "a.txt"),
            Job.of("program"));
    await(id, JobState.SUCCEEDED);
    assertThat(artifact(id, "a.txt")).hasContent("one\n");
    assertThat(artifact(id, "b.txt")).hasContent("two\n");
    assertThat(result(id)).isEqualTo("7");
    assertThat(timeline(id))
        .containsExactly("created", "processing", "uploaded", "uploaded", "done");
    assertThat(files(folder.resolve("results").resolve(".staged"))).isEmpty();
  }

  @Test
  void a_missing_declared_artifact_fails_the_attempt() {
    JobId id = ran(shell("true", "clip.mp4"), Job.of("program").maxAttempts(1));
    assertThat(failure(id).message()).contains("no file").contains("'clip.mp4'");
    assertThat(artifact(id, "clip.mp4")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "ln -s /etc/passwd secret",
    "mkfifo pipe",
    "mkdir folder",
    "echo x > .hidden",
    "echo x > 'a\tb'"
  })
  void anything_but_a_regular_file_fails_the_publication(String command) {
    JobId id =
        ran(
            shell(
                "echo good > \"$HOLDFAST_ARTIFACTS/good\"; cd \"$HOLDFAST_ARTIFACTS\"; " + command),
            Job.of("program").maxAttempts(1));
    await(id, JobState.FAILED);
    assertThat(artifact(id, "good")).doesNotExist();
  }
}
