package dev.holdfast.programs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.handler.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs that wait, and start jobs, by what they print. */
@OnlyWithAll
class ProgramWaitsTest extends ProgramFixture {
  /** Says how often it was called, and keeps its envelope for the test. */
  private String counted(String script) {
    return "echo x >> %1$s/calls; cp \"$HOLDFAST_JOB\" %1$s/envelope; %2$s"
        .formatted(folder, script);
  }

  private static String say(String json) {
    return "printf '%s\\n' 'holdfast: " + json + "'";
  }

  /** Waits for what comes under the id, unless its envelope has it. */
  private static String unless(String id, String wait, String then) {
    return "if grep -q '\"%s\":{' \"$HOLDFAST_JOB\"; then %s; else %s; fi"
        .formatted(id, then, say("{\"suspend\": " + wait + "}"));
  }

  private static final String CONTRACT =
      "{\"id\": \"contract\", \"sort\": \"signal\", \"signal\": \"contract\", \"withinMs\": 604800000}";

  private JobId working(String script, Job job) {
    JobId id = enqueue(job);
    start(worker().concurrency(1).handle(shell(script)).handle(doubling()));
    return id;
  }

  private static Kind<Integer> doubling() {
    return Kind.of("double", Integer.class, (number, context) -> number * 2);
  }

  private JobId working(String script) {
    return working(script, Job.of("program"));
  }

  private int calls() throws IOException {
    return Files.readAllLines(folder.resolve("calls")).size();
  }

  private String envelope() throws IOException {
    return Files.readString(folder.resolve("envelope"));
  }

  private void decide(JobId id, String wait, boolean approved) {
    assertThat(
            holdfast
                .jobs()
                .decide(id, wait, new Decision(approved, "ada", "fine"), Role.OPERATOR, Tenant.ANY))
        .isEqualTo(Decision.Answer.ACCEPTED);
  }

  // ---- a wait

  @Test
  void a_program_that_waits_holds_nothing_and_is_told_what_its_wait_has_brought() throws Exception {
    JobId id =
        working(
            counted(
                "touch left; " + unless("contract", CONTRACT, say("{\"output\": \"signed\"}"))));
    await(id, JobState.WAITING);
    until(() -> files(scratchRoot()).isEmpty());
    assertThat(result(await(enqueue(Job.of("double", 21)), JobState.SUCCEEDED).id()))
        .isEqualTo("42");
    assertThat(envelope()).contains("\"waits\":{}", "\"children\":{}");

    holdfast.signal(id, "contract", Map.of("number", "C-17"));
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"signed\"");
    assertThat(envelope())
        .contains(
            "\"waits\":{\"contract\":{\"sort\":\"SIGNAL\",\"outcome\":\"SIGNAL\",\"payload\":{\"number\":\"C-17\"}",
            "\"attempt\":2");
    assertThat(calls()).isEqualTo(2);
    assertThat(attempts(id)).containsExactly(AttemptOutcome.SUSPENDED, AttemptOutcome.SUCCEEDED);
    assertThat(job(id).failures()).isZero();
  }

  @Test
  void what_is_there_already_is_told_to_another_call_of_the_same_attempt_in_an_empty_folder()
      throws Exception {
    JobId id = enqueue(Job.of("program"));
    holdfast.signal(id, "contract", "C-17");
    start(
        worker()
            .handle(
                shell(
                    counted(
                        "[ -z \"$(ls -A | grep -v -e .holdfast -e artifacts)\" ] || exit 65;"
                            + " [ -z \"$(ls artifacts)\" ] || exit 65; touch left artifacts/left; "
                            + unless("contract", CONTRACT, "rm artifacts/left")))));
    await(id, JobState.SUCCEEDED);
    assertThat(calls()).isEqualTo(2);
    assertThat(attempts(id)).containsExactly(AttemptOutcome.SUCCEEDED);
    assertThat(holdfast.queries().artifacts(id)).isEmpty();
  }

  @Test
  void a_decision_says_who_has_made_it() throws Exception {
    JobId id =
        working(
            counted(
                unless(
                    "limit",
                    "{\"id\": \"limit\", \"sort\": \"approval\", \"question\": {\"text\": \"Raise it?\", \"role\": \"admin\"}}",
                    say("{\"output\": 1}"))));
    await(id, JobState.WAITING);
    assertThat(job(id).waitsFor().question().text()).isEqualTo("Raise it?");
    assertThat(
            holdfast
                .jobs()
                .decide(id, "limit", new Decision(true, "bob", ""), Role.OPERATOR, Tenant.ANY))
        .isEqualTo(Decision.Answer.NOT_ALLOWED);
    holdfast.jobs().decide(id, "limit", new Decision(false, "ada", "no"), Role.ADMIN, Tenant.ANY);
    await(id, JobState.SUCCEEDED);
    assertThat(envelope())
        .contains("\"outcome\":\"REJECTED\",\"by\":\"ada\",\"comment\":\"no\",\"at\":\"20");
  }

  @Test
  void secrets_in_a_question_are_redacted() {
    String script =
        say(
            "{\"suspend\": {\"id\": \"limit\", \"sort\": \"approval\", \"question\": \"Raise it with tell-nobody-9?\", \"details\": \"by password=hunter22\"}}");
    JobId id =
        ran(
            new Program(List.of("sh", "-c", script), folder, Map.of(), List.of())
                .kind("program", CODEC, Scrubber.knowing(List.of("tell-nobody-9"))),
            Job.of("program"));
    await(id, JobState.WAITING);
    assertThat(job(id).waitsFor().question().text()).isEqualTo("Raise it with ***?");
    assertThat(job(id).waitsFor().question().details()).isEqualTo("by password=***");
    assertThat(holdfast.queries().timeline(id).toString())
        .contains("Raise it with ***?")
        .doesNotContain("tell-nobody-9", "hunter22");
  }

  @Test
  void a_program_that_was_told_what_it_has_waited_for_has_not_passed_it_over() {
    JobId id = working(unless("contract", CONTRACT, say("{\"output\": \"signed\"}")));
    await(id, JobState.WAITING);
    holdfast.signal(id, "contract", "C-17");
    await(id, JobState.SUCCEEDED);
    assertThat(holdfast.queries().timeline(id))
        .extracting(JobEvent::type)
        .contains(EventType.RESUMED)
        .doesNotContain(EventType.STEPS_UNUSED);
  }

  @Test
  void an_approval_may_have_its_question_in_one_line() {
    JobId id =
        working(
            unless(
                "limit",
                "{\"id\": \"limit\", \"sort\": \"APPROVAL\", \"question\": \"Raise it?\", \"details\": \"by ten\", \"afterwards\": \"approve\", \"withinMs\": 60000}",
                "true"));
    await(id, JobState.WAITING);
    assertThat(job(id).waitsFor().question().details()).isEqualTo("by ten");
    decide(id, "limit", true);
    await(id, JobState.SUCCEEDED);
  }

  @Test
  void a_sleep_of_no_time_is_over_at_once_and_one_until_a_moment_is_not() throws Exception {
    JobId id =
        working(
            counted(
                unless(
                    "later",
                    "{\"id\": \"later\", \"sort\": \"sleep\", \"until\": \"2999-01-01T00:00:00Z\"}",
                    unless(
                        "nap",
                        "{\"id\": \"nap\", \"sort\": \"sleep\", \"withinMs\": 0}",
                        "true"))));
    await(id, JobState.WAITING);
    db.sql("UPDATE holdfast.job SET wake_at = now() WHERE id = ?", id.value());
    await(id, JobState.SUCCEEDED);
    assertThat(calls()).isEqualTo(3);
    assertThat(attempts(id)).hasSize(2);
    assertThat(envelope()).contains("\"nap\":{\"sort\":\"SLEEP\",\"outcome\":\"TIME\"");
  }

  @Test
  void an_attempt_after_a_failure_is_told_what_waits_before_it_have_brought() throws Exception {
    JobId id =
        working(
            counted(
                unless(
                    "contract", CONTRACT, "[ $(wc -l < " + folder + "/calls) -gt 2 ] || exit 1")));
    await(id, JobState.WAITING);
    holdfast.signal(id, "contract", "C-17");
    await(id, JobState.SUCCEEDED);
    assertThat(attempts(id))
        .containsExactly(AttemptOutcome.SUSPENDED, AttemptOutcome.FAILED, AttemptOutcome.SUCCEEDED);
  }

  @Test
  void a_program_whose_worker_is_lost_before_it_has_ended_waits_in_the_next_attempt()
      throws Exception {
    JobId id =
        working(
            counted(
                say("{\"suspend\": " + CONTRACT + "}")
                    + "; [ $(wc -l < "
                    + folder
                    + "/calls) -gt 1 ] || sleep 1000"));
    until(() -> Files.exists(folder.resolve("envelope")));
    takeAway(id);
    await(id, JobState.WAITING);
    assertThat(calls()).isEqualTo(2);
  }

  @Test
  void a_job_that_waits_is_cancelled_at_once() throws Exception {
    JobId id = working(counted(say("{\"suspend\": " + CONTRACT + "}")));
    await(id, JobState.WAITING);
    holdfast.cancel(id, "no need");
    assertThat(job(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(calls()).isEqualTo(1);
  }

  @Test
  void a_program_that_fails_does_not_wait() {
    JobId id = ran(say("{\"suspend\": " + CONTRACT + "}") + "; exit 75");
    await(id, JobState.FAILED);
    assertThat(failure(id).root().code()).isEqualTo("EXIT_75");
    JobId said =
        ran(
            say("{\"suspend\": " + CONTRACT + "}")
                + "; "
                + say("{\"failure\": {\"code\": \"NO\", \"retryable\": false}}"));
    await(said, JobState.FAILED);
    assertThat(failure(said).code()).isEqualTo("NO");
  }

  // ---- jobs that it starts

  @Test
  void a_program_starts_jobs_once_and_is_told_how_they_have_ended() throws Exception {
    String start =
        say(
            "{\"children\": {\"startedAs\": \"count\", \"jobs\": [{\"kind\": \"double\", \"payload\": 1}, {\"kind\": \"double\", \"payload\": 4}]}}");
    JobId id =
        working(
            counted(
                start
                    + "; "
                    + unless(
                        "counted",
                        "{\"id\": \"counted\", \"sort\": \"children\", \"started\": [\"count\"]}",
                        say("{\"output\": \"all\"}"))));
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"all\"");
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE kind = 'double'")).isEqualTo(2);
    assertThat(envelope())
        .contains(
            "\"children\":{\"count\":[{\"taskId\":\""
                + JobId.ofChild(id, "count", 1, 0)
                + "\",\"state\":\"SUCCEEDED\",\"result\":2}",
            "\"result\":8}]}");
  }

  @Test
  void the_script_of_the_guide_waits_for_the_jobs_that_it_starts() {
    Path script = Path.of("src", "test", "resources", "programs", "count.sh").toAbsolutePath();
    JobId id = enqueue(Job.of("program"));
    start(
        worker()
            .handle(kind(List.of("sh", script.toString()), Map.of()))
            .handle("count-words", String.class, (text, context) -> text.split(" ").length));
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"counted\"");
    assertThat(result(JobId.ofChild(id, "count", 1, 0))).isEqualTo("2");
  }

  @Test
  void a_program_that_does_not_wait_for_its_jobs_leaves_them_to_run() {
    JobId id =
        working(
            say(
                "{\"children\": {\"startedAs\": \"one\", \"jobs\": [{\"kind\": \"double\", \"payload\": 4, \"queue\": \"other\", \"tags\": [\"t\"]}]}}"));
    await(id, JobState.SUCCEEDED);
    assertThat(job(JobId.ofChild(id, "one", 1, 0)).queue()).isEqualTo("other");
  }

  @Test
  void a_child_that_fails_is_told_with_its_failure() throws Exception {
    JobId id =
        working(
            counted(
                say(
                        "{\"children\": {\"startedAs\": \"bad\", \"jobs\": [{\"kind\": \"double\", \"payload\": \"x\", \"maxAttempts\": 1}]}}")
                    + "; "
                    + unless(
                        "all",
                        "{\"id\": \"all\", \"sort\": \"children\", \"started\": [\"bad\"], \"failFast\": true}",
                        "true")));
    await(id, JobState.SUCCEEDED);
    assertThat(envelope())
        .contains("\"outcome\":\"FAILED\"", "\"state\":\"FAILED\",\"failure\":{", "VALIDATION");
  }

  @Test
  void what_the_program_is_told_has_a_bound() throws Exception {
    JobId id =
        working(
            counted(
                unless(
                    "nap",
                    "{\"id\": \"nap\", \"sort\": \"sleep\", \"withinMs\": 60000000}",
                    "true")));
    await(id, JobState.WAITING);
    db.sql(
        """
        INSERT INTO holdfast.step (job_id, step_id, step_index, state, attempt, job_attempt,
                                   checkpoint, ended, started_at, finished_at)
        SELECT ?, 'w' || n, n + 1, 'DONE', 1, 1, to_jsonb(repeat('x', 1000000)),
               '{"sort": "SIGNAL", "outcome": "SIGNAL"}', now(), now()
          FROM generate_series(1, 68) AS n
        """,
        id.value());
    db.sql("UPDATE holdfast.job SET wake_at = now() WHERE id = ?", id.value());
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.INPUT_TOO_LARGE);
    assertThat(calls()).isEqualTo(1);
  }

  // ---- what operators ask

  @Test
  void a_job_that_is_sent_back_to_a_wait_waits_once_more() throws Exception {
    JobId id =
        working(
            counted(
                unless(
                    "contract",
                    CONTRACT,
                    unless(
                        "go",
                        "{\"id\": \"go\", \"sort\": \"signal\", \"signal\": \"go\"}",
                        "true"))));
    await(id, JobState.WAITING);
    holdfast.signal(id, "contract", "first");
    until(() -> job(id).state() == JobState.WAITING && calls() == 2);

    ask(id, CommandAction.RESUME_FROM_STEP, "contract");
    until(() -> job(id).state() == JobState.WAITING && calls() == 3);
    assertThat(holdfast.queries().pendingCommand(id)).isEqualTo(PendingCommand.NONE);
    assertThat(envelope()).contains("\"waits\":{}");
    holdfast.signal(id, "go", "now");
    holdfast.signal(id, "contract", "second");
    await(id, JobState.SUCCEEDED);
    assertThat(envelope()).contains("\"payload\":\"second\"").doesNotContain("first");

    ask(id, CommandAction.RESUME_FROM_STEP, "go");
    until(() -> job(id).state() == JobState.WAITING);
    holdfast.signal(id, "go", "again");
    await(id, JobState.SUCCEEDED);
    assertThat(envelope()).contains("\"payload\":\"second\"", "\"payload\":\"again\"");
  }

  // ---- what is refused

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"id\": \"x\"}                                                   | VALIDATION | suspend: field 'sort' is missing",
        "{\"id\": \"x\", \"sort\": \"dream\"}                              | VALIDATION | field 'sort' must be sleep, signal, approval or children",
        "{\"sort\": \"sleep\", \"withinMs\": 1}                            | VALIDATION | field 'id' is missing",
        "{\"id\": \"x\", \"sort\": \"sleep\"}                              | VALIDATION | field 'withinMs' is missing",
        "{\"id\": \"x\", \"sort\": \"sleep\", \"withinMs\": \"3d\"}        | VALIDATION | field 'withinMs' must be a whole number, and not '3d'",
        "{\"id\": \"x\", \"sort\": \"sleep\", \"withinMs\": -1}            | BAD_DELAY  | field 'withinMs' PT-0.001S must be zero or more",
        "{\"id\": \"x\", \"sort\": \"sleep\", \"withinMs\": 9e30}          | VALIDATION | field 'withinMs' must be a whole number",
        "{\"id\": \"x\", \"sort\": \"sleep\", \"withinMs\": 9000000000000} | BAD_DELAY  | field 'withinMs'",
        "{\"id\": \"x\", \"sort\": \"sleep\", \"until\": \"tomorrow\"}     | VALIDATION | field 'until' must be a time such as",
        "{\"id\": \"x\", \"sort\": \"sleep\", \"until\": \"1900-01-01T00:00:00Z\"} | BAD_TIMING | must be between 1970 and 9999",
        "{\"id\": \"x\", \"sort\": \"signal\"}                             | VALIDATION | field 'signal' is missing",
        "{\"id\": \"x\", \"sort\": \"signal\", \"signal\": \"s\", \"within\": 1} | VALIDATION | there is no field 'within' here, only id, signal, sort, withinMs",
        "{\"id\": \"x y\", \"sort\": \"signal\", \"signal\": \"s\"}        | BAD_NAME   | step 'x y' must have",
        "{\"id\": \"x\", \"sort\": \"approval\"}                           | VALIDATION | field 'question' is missing",
        "{\"id\": \"x\", \"sort\": \"approval\", \"question\": {\"text\": \"?\", \"role\": \"boss\"}} | VALIDATION | field 'question': field 'role' must be operator or admin",
        "{\"id\": \"x\", \"sort\": \"approval\", \"question\": \"?\", \"afterwards\": \"shrug\"} | VALIDATION | field 'afterwards' must be reject, approve or fail",
        "{\"id\": \"x\", \"sort\": \"children\"}                           | BAD_LIMIT  | must be for 1 to 1,000 ids",
        "[1]                                                               | VALIDATION | suspend: it must be an object, and not [1]",
        "{\"id\": \"x\"                                                    | VALIDATION | a line that waits or starts jobs cannot be read",
      })
  void a_wait_that_is_not_understood_fails_the_attempt_for_good(
      String wait, String code, String words) {
    JobId id = ran(say("{\"suspend\": " + wait + "}"));
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(code);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.USER_CODE);
    assertThat(failure(id).retryable()).isFalse();
    assertThat(failure(id).message()).contains(words);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"jobs\": []}                                             | VALIDATION | children: field 'startedAs' is missing",
        "{\"startedAs\": \"c\", \"jobs\": 3}                        | VALIDATION | field 'jobs' must be a list",
        "{\"startedAs\": \"c\", \"jobs\": [{}]}                     | VALIDATION | jobs[0]: field 'kind' is missing",
        "{\"startedAs\": \"c\", \"jobs\": [{\"kind\": \"k\"}, {\"kind\": \"k\", \"uniqueKey\": \"u\"}]} | VALIDATION | jobs[1]: there is no field 'uniqueKey' here",
        "{\"startedAs\": \"c\", \"jobs\": [{\"kind\": \"k\", \"priority\": 12}]} | BAD_PRIORITY | jobs[0]:",
        "{\"startedAs\": \"c d\", \"jobs\": []}                     | BAD_NAME   | step 'c d'",
      })
  void jobs_that_are_not_understood_fail_the_attempt_and_none_is_started(
      String jobs, String code, String words) {
    JobId id =
        ran(
            say(
                    "{\"children\": {\"startedAs\": \"good\", \"jobs\": [{\"kind\": \"double\", \"payload\": 1}]}}")
                + "; "
                + say("{\"children\": " + jobs + "}"));
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(code);
    assertThat(failure(id).message()).contains(words);
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE kind = 'double'")).isZero();
  }

  @Test
  void one_line_starts_a_thousand_jobs_at_most() {
    String jobs =
        IntStream.rangeClosed(0, 1_000)
            .mapToObj(i -> "{\"kind\":\"k\"}")
            .collect(Collectors.joining(","));
    JobId id = ran(say("{\"children\": {\"startedAs\": \"c\", \"jobs\": [" + jobs + "]}}"));
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("field 'jobs' may have 1,000 jobs");
  }

  @Test
  void a_program_that_asks_again_for_what_is_over_is_not_called_for_ever() throws Exception {
    JobId id =
        working(
            counted(say("{\"suspend\": {\"id\": \"nap\", \"sort\": \"sleep\", \"withinMs\": 0}}")));
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo("ID_REUSED");
    assertThat(failure(id).message()).contains("'nap'", "is over", "HOLDFAST_JOB");
    assertThat(calls()).isEqualTo(2);
  }

  @Test
  void an_id_is_for_a_wait_or_for_jobs() {
    JobId id =
        ran(
            say("{\"children\": {\"startedAs\": \"same\", \"jobs\": []}}")
                + "; "
                + say("{\"suspend\": {\"id\": \"same\", \"sort\": \"sleep\", \"withinMs\": 1}}"));
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("'same' was asked for in this attempt");
  }

  @Test
  void a_program_waits_once_and_sends_nothing_after_that() {
    for (String more : List.of("{\"suspend\": " + CONTRACT + "}", "{\"progress\": 50}")) {
      JobId id = ran(say("{\"suspend\": " + CONTRACT + "}") + "; " + say(more));
      await(id, JobState.FAILED);
      assertThat(failure(id).message()).contains("suspend: the program has sent another line");
    }
    JobId logs = ran(say("{\"suspend\": " + CONTRACT + "}") + "; echo 'good night'");
    assertThat(job(logs).state()).isEqualTo(JobState.WAITING);
  }

  @Test
  void an_output_is_not_lost_in_a_wait() {
    JobId id = ran(say("{\"output\": 1}") + "; " + say("{\"suspend\": " + CONTRACT + "}"));
    await(id, JobState.FAILED);
    assertThat(failure(id).message())
        .contains("suspend: the program waits and has given an output");
  }
}
