package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.programs.Program;
import dev.holdfast.testkit.Living;
import dev.holdfast.testkit.Script;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs as handlers: what they are told, what they may say, and how they end. */
class ProgramTest extends WorkplaceTest {
  private static final JacksonCodec CODEC = new JacksonCodec();

  private Kind<Json> shell(String script, String... artifacts) {
    return kind(List.of("sh", "-c", script), Map.of(), artifacts);
  }

  private Kind<Json> kind(
      List<String> command, Map<String, String> environment, String... artifacts) {
    return new Program(command, folder, environment, List.of(artifacts))
        .kind("program", CODEC)
        .retry(RetryPolicy.NONE);
  }

  /** Runs one job to its end. */
  private JobId ran(Kind<Json> kind, Job job) {
    JobId id = enqueue(job);
    worker().handle(kind).drain();
    return id;
  }

  private JobId ran(String script) {
    return ran(shell(script), Job.of("program").maxAttempts(1));
  }

  // ---- what it prints

  @Test
  void is_heard_while_it_runs_and_its_last_words_stay() throws IOException {
    JobId id =
        enqueue(Job.of("program", Map.of("go", folder.resolve("go").toString())).maxAttempts(1));
    start(
        worker()
            .handle(
                shell(
                    "echo first; echo password=hunter22 >&2; printf '\\033[31mred\\033[0m \\377\\n';"
                        + " while [ ! -e \"%s\" ]; do sleep 0.05; done; printf last; exit 3"
                            .formatted(folder.resolve("go")))));
    until(() -> log(id).lines().count() == 3);
    assertThat(holdfast.find(id).orElseThrow().state()).isEqualTo(JobState.RUNNING);
    assertThat(log(id).lines()).contains("first", "password=***", "red \uFFFD");
    Files.createFile(folder.resolve("go"));
    await(id, JobState.FAILED);
    assertThat(log(id)).endsWith("last\n");
  }

  @Test
  void tells_no_secret_in_its_last_words() throws IOException {
    JobId id = ran("{ echo api_key=abcdef0123456789; echo 'bad password=hunter22'; } >&2; exit 3");
    Failure failure = failure(id);
    assertThat(failure.message()).endsWith("bad password=***");
    assertThat(failure.stackTrace()).contains("api_key=***").doesNotContain("hunter22", "abcdef01");
    assertThat(files(scratchRoot())).anyMatch(file -> file.endsWith("output.log"));
    for (String file : files(scratchRoot())) {
      assertThat(Files.readString(scratchRoot().resolve(file)))
          .doesNotContain("hunter22", "abcdef01");
    }
  }

  @Test
  void tells_no_secret_in_colours_or_in_its_messages() throws IOException {
    JobId id =
        ran(
            "echo 'holdfast: {\"progress\": 5, \"message\": \"password=hunter22\"}';"
                + " echo 'holdfast: {\"event\": {\"type\": \"a:b\", \"data\": [\"password=hunter22\"]}}';"
                + " printf 'bad \\033[1mpass\\033[0mword=\\033[31mhunter\\033[0m22\\n'; exit 3");
    Failure failure = failure(id);
    assertThat(failure.message()).endsWith("bad password=***");
    assertThat(failure.stackTrace()).isEqualTo("bad password=***");
    assertThat(log(id)).isEqualTo("bad password=***\n");
    assertThat(
            db.queryOne(
                String.class,
                "SELECT string_agg(data::text, '') FROM holdfast.event WHERE job_id = ?",
                id.value()))
        .contains("password=***")
        .doesNotContain("hunter");
    for (String file : files(scratchRoot())) {
      assertThat(Files.readString(scratchRoot().resolve(file))).doesNotContain("hunter");
    }
  }

  @Test
  void tells_no_secret_of_several_lines() throws IOException {
    JobId id =
        ran(
            "echo -----BEGIN PRIVATE KEY-----; echo MIIEvQIBADANBgkqhkiG9w0BAQEFAASC;"
                + " echo -----END PRIVATE KEY-----; echo after; exit 3");
    assertThat(log(id)).contains("BEGIN PRIVATE KEY", "after").doesNotContain("MIIEv");
    assertThat(failure(id).stackTrace()).contains("after").doesNotContain("MIIEv");
    for (String file : files(scratchRoot())) {
      assertThat(Files.readString(scratchRoot().resolve(file))).doesNotContain("MIIEv");
    }
  }

  private String log(JobId id) {
    return holdfast.queries().log(id, LogCursor.START).parts().stream()
        .map(LogTail.Part::text)
        .collect(Collectors.joining());
  }

  // ---- what it is told

  @Test
  void finds_its_job_in_a_file() {
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
  void works_in_its_own_folder_which_is_gone_when_it_has_succeeded() throws IOException {
    JobId id = ran("[ \"$PWD\" = \"$HOLDFAST_SCRATCH\" ] && echo work > file");
    await(id, JobState.SUCCEEDED);
    assertThat(files(scratchRoot())).isEmpty();
  }

  @Test
  void sees_nothing_of_our_environment_but_what_is_harmless_or_was_given_to_it() {
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

  // ---- what it says

  @Test
  void tells_progress_events_and_its_result() {
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
  void its_standard_error_never_speaks_to_us() {
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
  void what_we_do_not_understand_is_log_and_hurts_nobody(String line) throws IOException {
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
  void a_flood_of_events_ends_in_the_log() {
    JobId id =
        ran(
            "i=0; while [ $i -lt 1100 ]; do i=$((i+1));"
                + " echo 'holdfast: {\"event\": {\"type\": \"tick\"}}'; done");
    await(id, JobState.SUCCEEDED);
    assertThat(timeline(id)).filteredOn("tick"::equals).hasSize(1_000);
  }

  @Test
  void a_gigabyte_without_a_newline_costs_neither_memory_nor_disk() throws IOException {
    JobId id = ran("head -c 1G /dev/zero; exit 3");
    assertThat(failure(id).code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(Files.size(scratch(id, 1).resolve(".holdfast/output.log"))).isLessThan(100_000);
  }

  @Test
  void an_endless_log_keeps_its_last_lines_within_ten_megabytes() throws IOException {
    JobId id = ran("yes 'a line of thirty-two characters' | head -c 20M; echo the end; exit 3");
    Path log = scratch(id, 1).resolve(".holdfast/output.log");
    assertThat(Files.size(log) + Files.size(log.resolveSibling("output.log.1")))
        .isLessThanOrEqualTo(10 << 20);
    assertThat(Files.readString(log)).endsWith("the end\n");
    assertThat(failure(id).message()).endsWith("the end");
  }

  // ---- how it ends

  @ParameterizedTest
  @CsvSource({
    "65, DATA_QUALITY, false",
    "75, INFRASTRUCTURE, true",
    "78, CONFIGURATION, false",
    "1, USER_CODE, true",
    "127, USER_CODE, true"
  })
  void the_exit_code_names_the_category(int exit, FailureCategory category, boolean retryable) {
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
  void its_last_lines_are_kept_with_the_failure() {
    JobId id = ran(shell("seq 100; exit 65"), Job.of("program"));
    assertThat(failure(id).stackTrace()).startsWith("61\n62\n").endsWith("\n100");
  }

  @Test
  void a_failure_it_tells_of_counts_whatever_its_exit_code() {
    JobId id =
        ran(
            "echo 'holdfast: {\"failure\": {\"category\": \"DATA_QUALITY\","
                + " \"code\": \"INPUT_TOO_LARGE\", \"message\": \"too long\"}}'");
    assertThat(failure(id).code()).isEqualTo(Failure.INPUT_TOO_LARGE);
    assertThat(failure(id).message()).isEqualTo("too long");
  }

  @Test
  void one_that_was_killed_says_so() {
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

  // ---- how it is ended

  private static final Timings BRIEF_GRACE =
      new Timings(
          Duration.ofMillis(200), Duration.ofSeconds(30), Duration.ZERO, Duration.ofMillis(700));

  /** For what ends when it is asked to, however busy the machine. */
  private static final Timings LONG_GRACE =
      new Timings(
          Duration.ofMillis(200), Duration.ofSeconds(30), Duration.ZERO, Duration.ofSeconds(30));

  private JobId begun(Worker unused) throws Exception {
    JobId id = enqueue(Job.of("program"));
    until(() -> Files.exists(folder.resolve("pids")) && pids().size() == 2);
    return id;
  }

  private List<Long> pids() throws IOException {
    return Files.readString(folder.resolve("pids"), StandardCharsets.UTF_8)
        .lines()
        .map(Long::valueOf)
        .toList();
  }

  private Kind<Json> stubborn(String onTerm) {
    return kind(
        List.of(
            "sh",
            "-c",
            "trap '"
                + onTerm
                + "' TERM; echo $$ >> \"$PIDS\";"
                + " (setsid sh -c 'trap \"\" TERM; echo $$ >> \"$PIDS\"; while :; do sleep 0.1; done' &);"
                + " while :; do sleep 0.1; done"),
        Map.of("PIDS", folder.resolve("pids").toString()));
  }

  private void untilAllAreGone() throws Exception {
    List<Long> pids = pids();
    until(() -> pids.stream().noneMatch(Living::is));
  }

  @Test
  void is_asked_to_end_when_its_job_is_cancelled_and_leaves_nothing_behind() throws Exception {
    JobId id = begun(start(worker().timings(LONG_GRACE).handle(stubborn("exit 0"))));
    holdfast.cancel(id, "enough");
    await(id, JobState.CANCELLED);
    untilAllAreGone();
    until(() -> files(scratchRoot()).isEmpty());
  }

  @Test
  void is_killed_with_all_it_started_when_it_ignores_that() throws Exception {
    JobId id = begun(start(worker().timings(BRIEF_GRACE).handle(stubborn(""))));
    holdfast.cancel(id, "enough");
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.CANCEL_TIMEOUT);
    untilAllAreGone();
  }

  @Test
  void is_ended_at_shutdown_and_its_job_given_back() throws Exception {
    Worker worker = start(worker().timings(BRIEF_GRACE).handle(stubborn("")));
    JobId id = begun(worker);
    worker.close();
    assertThat(job(id).state()).isEqualTo(JobState.PENDING);
    assertThat(timeline(id)).endsWith("aborted:shutdown");
    untilAllAreGone();
  }

  @Test
  void is_ended_by_its_timeout() throws Exception {
    start(worker().timings(BRIEF_GRACE).handle(stubborn("")));
    JobId id = enqueue(Job.of("program").maxAttempts(1).timeout(Duration.ofSeconds(1)));
    await(id, JobState.FAILED);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.TIMEOUT);
    untilAllAreGone();
  }

  @Test
  void is_killed_at_once_when_its_lease_is_lost() throws Exception {
    Timings patient =
        new Timings(
            Duration.ofMillis(200), Duration.ofSeconds(30), Duration.ZERO, Duration.ofMinutes(5));
    JobId id = begun(start(worker().timings(patient).handle(stubborn(""))));
    db.sql("UPDATE holdfast.job SET attempt = attempt + 1 WHERE id = '" + id + "'");
    untilAllAreGone();
  }

  // ---- what it leaves

  @Test
  void what_lies_in_its_artifacts_folder_is_published() throws IOException {
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
  void a_promised_artifact_that_is_not_there_fails_the_attempt() {
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
  void what_is_no_plain_file_is_never_published(String command) {
    JobId id =
        ran(
            shell(
                "echo good > \"$HOLDFAST_ARTIFACTS/good\"; cd \"$HOLDFAST_ARTIFACTS\"; " + command),
            Job.of("program").maxAttempts(1));
    await(id, JobState.FAILED);
    assertThat(artifact(id, "good")).doesNotExist();
  }
}
