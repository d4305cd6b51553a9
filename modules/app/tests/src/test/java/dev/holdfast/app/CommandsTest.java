package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.Holdfast;
import dev.holdfast.app.demo.ExampleKinds;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.admin.TokenKey;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.handler.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Every command against a real database, in this process. */
@ExtendWith(DatabaseExtension.class)
class CommandsTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @TempDir Path folder;
  TestDatabase database;
  Holdfast holdfast;
  private final PrintStream out = System.out;
  private final PrintStream err = System.err;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final ByteArrayOutputStream complained = new ByteArrayOutputStream();

  @BeforeEach
  void open(TestDatabase given) {
    database = given;
    holdfast = Holdfast.on(database.dataSource());
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void close() {
    System.setOut(out);
    System.setErr(err);
    holdfast.close();
  }

  /** What the commands find in their settings file: how to reach the jobs. */
  String settings() {
    return direct();
  }

  final String direct() {
    return "database: {url: '%s', user: '%s', password: '%s', allowUnsafe: true}"
        .formatted(database.url(), database.user(), database.password());
  }

  int run(String... arguments) throws IOException {
    return runWith(settings(), arguments);
  }

  int runWith(String settings, String... arguments) throws IOException {
    said.reset();
    complained.reset();
    Path file = Files.writeString(folder.resolve("holdfast.yaml"), settings);
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--config", file.toString()));
    return Main.run(all.toArray(String[]::new));
  }

  String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  String complained() {
    return complained.toString(StandardCharsets.UTF_8);
  }

  JsonNode json() throws IOException {
    return MAPPER.readTree(said());
  }

  private void runExamples() {
    holdfast
        .worker("default")
        .handle(
            ExampleKinds.all().stream()
                .map(kind -> (Kind<?>) kind.retry(RetryPolicy.NONE))
                .toList())
        .drain();
  }

  @Test
  void enqueue_prints_the_id_and_the_job_is_there() throws IOException {
    assertThat(run("enqueue", "echo", "{\"a\": 1}", "-p", "2", "--delay", "1h")).isZero();
    JobId id = JobId.parse(said().strip());
    assertThat(run("jobs", "show", id.toString(), "--json")).isZero();
    assertThat(json().get("kind").asText()).isEqualTo("echo");
    assertThat(json().get("priority").asInt()).isEqualTo(2);
    assertThat(json().get("payload").get("a").asInt()).isEqualTo(1);
    assertThat(json().get("timeline").get(0).get("type").asText()).isEqualTo("created");
  }

  @Test
  void a_payload_may_come_from_a_file_and_a_job_from_each_line() throws IOException {
    Path lines = Files.writeString(folder.resolve("p.ndjson"), "{\"n\":1}\n\n{\"n\":2}\n");
    assertThat(run("enqueue", "echo", "@" + lines, "--each-line")).isZero();
    assertThat(said().lines()).hasSize(2);
    assertThat(run("enqueue", "echo", "@" + folder.resolve("missing"))).isEqualTo(ExitCode.USAGE);
    assertThat(complained()).contains("cannot be read").doesNotContain("\tat ");
  }

  @Test
  void what_only_its_worker_shall_know_is_handed_in_and_shown() throws IOException {
    String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    String[] options = {
      "enqueue",
      "echo",
      "--asset-id",
      "orders",
      "--partition-key",
      "2026-11-17",
      "--resources",
      "{\"cpu\": 2}",
      "--traceparent",
      trace,
      "--json"
    };
    assertThat(run(options)).isZero();
    String id = json().get(0).get("id").asText();
    run("jobs", "show", id);
    assertThat(said()).contains("orders").contains("2026-11-17").contains("cpu").contains(trace);
    assertThat(run("enqueue", "echo", "--traceparent", "00-1")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("traceparent '00-1'");
    assertThat(run("enqueue", "echo", "--resources", "cpu")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("--resources is not JSON");
  }

  @Test
  void a_second_job_with_the_unique_key_is_said_to_be_there() throws IOException {
    run("enqueue", "echo", "--unique-key", "k", "--json");
    String first = json().get(0).get("id").asText();
    assertThat(run("enqueue", "echo", "--unique-key", "k", "--json")).isZero();
    assertThat(json().get(0).get("id").asText()).isEqualTo(first);
    assertThat(json().get(0).get("duplicate").asBoolean()).isTrue();
  }

  @Test
  void a_unique_key_that_an_open_transaction_holds_is_refused_with_what_to_do() throws Exception {
    try (Connection open = database.dataSource().getConnection()) {
      open.setAutoCommit(false);
      holdfast.enqueue(open, List.of(Job.of("echo").uniqueKey("k")));
      assertThat(run("enqueue", "echo", "--unique-key", "k")).isEqualTo(ExitCode.REFUSED);
      assertThat(complained())
          .contains("unique key 'k' of kind 'echo' is held by another open transaction")
          .contains("try again once that transaction has ended");
    }
  }

  @Test
  void list_shows_filters_and_pages() throws IOException {
    for (int i = 0; i < 3; i++) {
      run("enqueue", "echo", "-q", "a");
    }
    run("enqueue", "sleep", "-q", "b");
    assertThat(run("jobs", "list")).isZero();
    assertThat(said()).contains("KIND").contains("sleep").contains("PENDING");
    run("jobs", "list", "-q", "a", "-n", "2", "--json");
    assertThat(json()).hasSize(2);
    String last = json().get(1).get("id").asText();
    run("jobs", "list", "-q", "a", "-n", "2", "--before", last, "--json");
    assertThat(json()).hasSize(1);
    run("jobs", "list", "--state", "failed,cancelled", "--json");
    assertThat(json()).isEmpty();
    assertThat(run("jobs", "list", "--limit", "0")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "list", "--state", "asleep")).isEqualTo(ExitCode.USAGE);
    assertThat(complained()).contains("PENDING");
  }

  @Test
  void watch_tells_the_timeline_and_ends_as_the_job_did() throws IOException {
    JobId good = holdfast.enqueue(Job.of("echo")).id();
    JobId bad = holdfast.enqueue(Job.of("fail").maxAttempts(1)).id();
    runExamples();
    assertThat(run("jobs", "watch", good.toString())).isZero();
    assertThat(said())
        .contains("created")
        .contains("processing")
        .contains("done")
        .contains("SUCCEEDED");
    assertThat(run("jobs", "watch", bad.toString())).isEqualTo(ExitCode.JOB_NOT_SUCCEEDED);
    assertThat(said()).contains("RETRIES_EXHAUSTED");
    assertThat(run("jobs", "show", bad.toString())).isZero();
    assertThat(said()).contains("FAILED").contains("EXAMPLE").contains("budget");
  }

  @Test
  void the_note_of_a_failed_job_begins_with_the_cause() throws IOException {
    holdfast.enqueue(Job.of("fail").maxAttempts(1));
    runExamples();
    run("jobs", "list");
    assertThat(said()).contains("this kind always fails (EXAMPLE, RETRIES_EXHAUSTED)");
    run("failures");
    assertThat(said()).containsPattern("[0-9a-f]{16} +1 +fail +EXAMPLE .* this kind always fails");
    run("failures", "--json");
    String signature = json().at("/groups/0/signature").asText();
    run("jobs", "list", "--search", "failure:" + signature, "--json");
    assertThat(json()).hasSize(1);
    assertThat(run("jobs", "retry", "--search", "failure:" + signature, "--dry-run")).isZero();
    assertThat(said()).isEqualTo("1 job would be requeued\n");
    assertThat(run("jobs", "retry", "--search", "failure:" + signature)).isZero();
    assertThat(said()).isEqualTo("1 job requeued\n");
    assertThat(run("failures")).isZero();
    assertThat(said()).isEqualTo("no failed jobs\n");
    assertThat(run("jobs", "list", "--search", "state:gone")).isEqualTo(ExitCode.REFUSED);
  }

  @Test
  void jobs_of_a_filter_are_cancelled_and_counted_before() throws IOException {
    holdfast.enqueue(List.of(Job.of("mail"), Job.of("mail"), Job.of("other")));
    assertThat(run("jobs", "cancel", "--kind", "mail", "--dry-run")).isZero();
    assertThat(said()).isEqualTo("2 jobs would be cancelled\n");
    assertThat(run("jobs", "cancel", "--kind", "mail")).isZero();
    assertThat(said()).isEqualTo("2 jobs cancelled, workers of 0 were asked to stop\n");
    assertThat(run("jobs", "cancel", "--kind", "mail", "--dry-run")).isZero();
    assertThat(said()).isEqualTo("0 jobs would be cancelled\n");
    assertThat(run("jobs", "cancel", "--state", "failed")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "cancel")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void a_waiting_job_shows_what_it_waits_for() throws IOException {
    JobId first = holdfast.enqueue(Job.of("fetch")).id();
    JobId job = holdfast.enqueue(Job.of("load").dependsOn(first)).id();
    run("jobs", "show", job.toString());
    assertThat(said()).containsPattern("waits for +" + first + " fetch PENDING");
    run("jobs", "show", first.toString(), "--json");
    assertThat(json().at("/dependencies/dependents/0/id").asText()).isEqualTo(job.toString());
  }

  @Test
  void a_schedule_is_run_now() throws IOException {
    run("schedules", "set", "nightly", "0 3 * * *", "report");
    assertThat(run("schedules", "run", "nightly")).isZero();
    JobId id = JobId.parse(said().strip());
    assertThat(holdfast.find(id).orElseThrow().kind()).isEqualTo("report");
    assertThat(run("schedules", "run", "nothing")).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void cancel_cancels_and_refuses_what_has_ended() throws IOException {
    JobId id = holdfast.enqueue(Job.of("echo")).id();
    assertThat(run("jobs", "cancel", id.toString(), "--reason", "not needed")).isZero();
    assertThat(said()).contains("cancelled");
    assertThat(holdfast.find(id).orElseThrow().cancelReason()).isEqualTo("not needed");
    assertThat(run("jobs", "cancel", id.toString())).isEqualTo(ExitCode.REFUSED);
    assertThat(said()).contains("already ended, CANCELLED");
    assertThat(run("jobs", "cancel", JobId.next().toString())).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void retry_puts_back_what_is_dead_by_id_or_by_choice() throws IOException {
    JobId one = holdfast.enqueue(Job.of("fail").maxAttempts(1)).id();
    JobId two = holdfast.enqueue(Job.of("fail").maxAttempts(1)).id();
    JobId fine = holdfast.enqueue(Job.of("echo")).id();
    runExamples();
    assertThat(run("jobs", "retry", one.toString())).isZero();
    assertThat(holdfast.find(one).orElseThrow().state().name()).isEqualTo("PENDING");
    assertThat(run("jobs", "retry", "--kind", "fail", "--json")).isZero();
    assertThat(json().get("retried").get(0).asText()).isEqualTo(two.toString());
    assertThat(run("jobs", "retry", fine.toString())).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("is SUCCEEDED");
    assertThat(run("jobs", "retry")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "retry", "--state", "RUNNING")).isEqualTo(ExitCode.USAGE);
  }

  private Lease running() {
    JobId job = holdfast.enqueue(Job.of("build")).id();
    holdfast.jobs().claim("default", 1, "w1", Duration.ofMinutes(5));
    return new Lease(job, 1);
  }

  private void step(Lease lease, int index, StepState state) {
    Json checkpoint = new Json("{\"changedFiles\": [\"a\", \"b\"]}");
    boolean done = state == StepState.DONE;
    holdfast
        .jobs()
        .report(
            List.of(
                new Report.Step(
                    lease,
                    "s" + index,
                    index,
                    state,
                    1,
                    false,
                    done ? checkpoint : null,
                    done ? Patch.of(new byte[1_200]) : null,
                    null,
                    null,
                    List.of())));
  }

  @Test
  void the_steps_of_a_job_are_shown_with_what_they_changed() throws IOException {
    Lease lease = running();
    String job = lease.job().toString();
    assertThat(run("jobs", "steps", job)).isZero();
    assertThat(said()).contains("no step has started");
    step(lease, 1, StepState.DONE);
    step(lease, 2, StepState.RUNNING);
    assertThat(run("jobs", "steps", job)).isZero();
    assertThat(said().lines().toList()).hasSize(3);
    assertThat(said().lines().toList().get(0))
        .matches("INDEX +STEP +STATE +ATTEMPTS +RESETS +TOOK +PATCH");
    assertThat(said().lines().toList().get(1)).matches("1 +s1 +DONE +1 +0 +\\d+ ms +1\\.2 kB");
    assertThat(said().lines().toList().get(2)).matches("2 +s2 +RUNNING +1 +0");
    assertThat(run("jobs", "steps", job, "--json")).isZero();
    assertThat(json().get(0).get("stepId").asText()).isEqualTo("s1");
    assertThat(json().get(0).has("checkpoint")).isFalse();
    assertThat(json().get(1).get("finishedAt").isNull()).isTrue();
    assertThat(run("jobs", "steps", job, "--step", "s1")).isZero();
    assertThat(said()).contains("1.2 kB", "changedFiles").doesNotContain("s2");
    assertThat(run("jobs", "steps", job, "--step", "s1", "--json")).isZero();
    assertThat(json().get("checkpoint").get("changedFiles")).hasSize(2);
    assertThat(run("jobs", "steps", job, "--step", "s9")).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(complained()).contains("step 's9' has not started");
    assertThat(run("jobs", "steps", JobId.next().toString())).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void what_the_programs_of_a_job_printed_is_shown_and_followed_to_its_end() throws Exception {
    Lease lease = running();
    String job = lease.job().toString();
    assertThat(run("jobs", "log", job)).isZero();
    assertThat(said()).isEmpty();
    holdfast.jobs().report(List.of(new Report.Log(lease, 1, "one\n\u001b[31mtwo\n")));
    assertThat(run("jobs", "log", job)).isZero();
    assertThat(said()).isEqualTo("one\ntwo\n");
    assertThat(run("jobs", "log", job, "--json")).isZero();
    assertThat(json().get("parts").get(0).get("text").asText()).isEqualTo("one\ntwo\n");
    Thread ends =
        Thread.ofVirtual()
            .start(
                () -> {
                  holdfast.jobs().report(List.of(new Report.Log(lease, 2, "three\n")));
                  holdfast.jobs().settle(new Settlement.Succeed(lease, null));
                });
    assertThat(run("jobs", "log", job, "--follow")).isZero();
    assertThat(said()).isEqualTo("one\ntwo\nthree\n");
    ends.join();
    assertThat(run("jobs", "log", JobId.next().toString())).isEqualTo(ExitCode.NOT_FOUND);
  }

  /** Who asks: on the database, whoever is logged in. */
  String asker() {
    return System.getProperty("user.name", "");
  }

  @Test
  void a_job_is_paused_taken_over_and_resumed() throws IOException {
    Lease lease = running();
    String job = lease.job().toString();
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
  void who_takes_a_job_over_is_told_where_it_lies_once_its_worker_has_said_so() throws IOException {
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
  void a_step_is_asked_to_be_done_again() throws IOException {
    Lease lease = running();
    String job = lease.job().toString();
    step(lease, 1, StepState.DONE);
    step(lease, 2, StepState.FAILED);
    assertThat(run("jobs", "control", job, "hard_reset_step", "--step", "s2", "-r", "odd"))
        .isZero();
    assertThat(said()).contains("hard_reset_step of 's2' was requested by " + asker() + ": odd");
    assertThat(run("jobs", "control", job, "retry_step", "--step", "s1"))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("resume_from_step");
    assertThat(run("jobs", "control", job, "resume_from_step", "--step", "s1", "--json")).isZero();
    assertThat(json().get("recovery").get("strategy").asText()).isEqualTo("hard_reset");
    assertThat(json().get("recovery").get("requestedBy").asText()).isEqualTo(asker());
    assertThat(json().get("stepsToRepeat")).hasToString("[\"s1\"]");
    holdfast.jobs().settle(new Settlement.Succeed(lease, null));
    assertThat(run("jobs", "control", job, "resume_from_step", "--step", "s1")).isZero();
    assertThat(said()).contains("these completed steps will run again: s1");
  }

  @Test
  void what_cannot_be_asked_of_a_job_is_one_line_that_says_what_can() throws IOException {
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

  @Test
  void queues_are_paused_resumed_limited_and_listed() throws IOException {
    run("enqueue", "echo", "-q", "mail");
    assertThat(run("queues", "pause", "mail")).isZero();
    assertThat(run("queues", "limit", "mail", "3")).isZero();
    assertThat(run("queues", "list", "--json")).isZero();
    assertThat(json().get(0).get("name").asText()).isEqualTo("mail");
    assertThat(json().get(0).get("due").asInt()).isEqualTo(1);
    assertThat(json().get(0).get("maxRunning").asInt()).isEqualTo(3);
    assertThat(json().get(0).get("pausedAt").isNull()).isFalse();
    assertThat(run("queues", "resume", "mail")).isZero();
    assertThat(run("queues", "list")).isZero();
    assertThat(said()).contains("open");
    assertThat(run("queues", "rate", "mail", "20", "--per", "1m")).isZero();
    assertThat(run("queues", "list", "--json")).isZero();
    assertThat(json().get(0).get("rateLimit").get("starts").asInt()).isEqualTo(20);
    assertThat(json().get(0).get("rateLimit").get("periodMs").asInt()).isEqualTo(60_000);
    assertThat(run("queues", "rate", "mail")).isZero();
    assertThat(run("queues", "limit", "mail", "0")).isEqualTo(ExitCode.USAGE);
    assertThat(run("queues", "pause", "no such queue")).isEqualTo(ExitCode.REFUSED);
  }

  @Test
  void a_job_may_wait_for_others() throws IOException {
    JobId first = holdfast.enqueue(Job.of("fail").maxAttempts(1)).id();
    run("enqueue", "echo", "--depends-on", first.toString());
    JobId cancelled = JobId.parse(said().strip());
    run("enqueue", "echo", "--depends-on", first.toString(), "--if-failed", "run");
    JobId runs = JobId.parse(said().strip());
    runExamples();
    assertThat(holdfast.find(cancelled).orElseThrow().state().name()).isEqualTo("CANCELLED");
    assertThat(holdfast.find(runs).orElseThrow().state().name()).isEqualTo("SUCCEEDED");
    assertThat(run("enqueue", "echo", "--depends-on", JobId.next().toString()))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("not there");
  }

  @Test
  void schedules_are_set_listed_paused_resumed_and_removed() throws IOException {
    assertThat(run("schedules", "set", "nightly", "0 3 * * *", "echo", "--zone", "Europe/Berlin"))
        .isZero();
    assertThat(said()).contains("nightly fires next at");
    assertThat(run("schedules", "list", "--json")).isZero();
    assertThat(json().get(0).get("cron").asText()).isEqualTo("0 3 * * *");
    assertThat(json().get(0).get("zone").asText()).isEqualTo("Europe/Berlin");
    assertThat(run("schedules", "pause", "nightly")).isZero();
    assertThat(run("schedules", "list")).isZero();
    assertThat(said()).contains("paused");
    assertThat(run("schedules", "resume", "nightly")).isZero();
    assertThat(run("schedules", "remove", "nightly")).isZero();
    assertThat(run("schedules", "remove", "nightly")).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(run("schedules", "set", "x", "0 3 * *", "echo")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("five fields");
    assertThat(run("schedules", "set", "x", "@daily", "echo", "--zone", "Nowhere"))
        .isEqualTo(ExitCode.USAGE);
  }

  @Test
  void a_schedule_that_cannot_be_fired_is_shown_as_broken() throws IOException {
    run("schedules", "set", "nightly", "0 3 * * *", "echo");
    run("schedules", "set", "weekly", "@weekly", "echo");
    database.sql("UPDATE holdfast.schedule SET zone = 'Moon' WHERE name = 'nightly'");
    assertThat(run("schedules", "list")).isZero();
    assertThat(said().lines().filter(line -> line.contains("broken")))
        .singleElement()
        .asString()
        .contains("nightly", "broken: its time zone 'Moon' is not known here");
    assertThat(run("schedules", "list", "--json")).isZero();
    assertThat(json().get(0).get("fireError").asText()).contains("Moon");
    assertThat(json().get(1).get("fireError").isNull()).isTrue();
    assertThat(run("health", "--json")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(said()).contains("schedule_broken").contains("nightly");
    assertThat(run("schedules", "remove", "nightly")).isZero();
  }

  @Test
  void stats_count_by_state_kind_and_queue() throws IOException {
    holdfast.enqueue(List.of(Job.of("echo"), Job.of("echo"), Job.of("fail").maxAttempts(1)));
    runExamples();
    assertThat(run("stats", "--json")).isZero();
    assertThat(json().get("byState").get("SUCCEEDED").asInt()).isEqualTo(2);
    assertThat(json().get("byState").get("FAILED").asInt()).isEqualTo(1);
    assertThat(run("stats")).isZero();
    assertThat(said()).contains("echo").contains("SUCCEEDED");
  }

  @Test
  void health_tells_what_is_wrong_and_what_to_do() throws IOException {
    assertThat(run("health")).isZero();
    assertThat(said()).contains("PostgreSQL").contains("all is well");
    run("enqueue", "echo", "-q", "mail");
    run("queues", "pause", "mail");
    assertThat(run("health")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(said())
        .contains("queue 'mail' is paused and 1 job waits in it")
        .contains("'holdfast queues resume mail'");
    assertThat(run("health", "--json")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(json().get("healthy").asBoolean()).isFalse();
    assertThat(json().get("problems").get(0).get("hint").asText()).contains("mail");
  }

  @Test
  void the_list_says_why_a_job_was_cancelled_and_not_that_it_had_failed_before()
      throws IOException {
    String job = holdfast.enqueue(Job.of("build")).id().toString();
    database.sql(
        "UPDATE holdfast.job SET state = 'RETRYING', failure = jsonb_build_object('category',"
            + " 'USER_CODE', 'code', 'BROKEN', 'message', 'it broke', 'retryable', true)");
    assertThat(run("jobs", "cancel", job, "--reason", "enough of it")).isZero();
    assertThat(run("jobs", "list")).isZero();
    assertThat(said()).contains("cancel: enough of it").doesNotContain("BROKEN");
  }

  @Test
  void a_job_with_the_largest_number_that_is_taken_is_shown() throws IOException {
    assertThat(run("enqueue", "echo", "[1e131071]")).isZero();
    assertThat(run("jobs", "show", said().strip())).isZero();
    assertThat(said()).contains("payload");
  }

  private static final String TAG = "worker:tag:0";
  private static final WorkerProcesses.Place PLACE = new WorkerProcesses.Place("here", TAG, 1);

  private WorkerRegistry health() {
    return holdfast.queue().workers();
  }

  private void startTag() {
    health()
        .supervisors()
        .appear(new Supervisors.Supervising("here", "here.example", 1, Instant.EPOCH));
    health().processes().starting(PLACE, 2, false);
    health().processes().spawned(PLACE, 4_711, Instant.now());
    health().processes().beat(PLACE, HealthStatus.HEALTHY, 4_711, null, new Json("{}"));
  }

  @Test
  void workers_are_listed_and_shown_with_the_health() throws IOException {
    assertThat(run("workers", "list")).isZero();
    assertThat(said()).contains("no supervisor is running");
    startTag();
    assertThat(run("workers", "list")).isZero();
    assertThat(said()).contains(TAG, "healthy", "4711", "here");
    assertThat(run("workers", "list", "--json")).isZero();
    assertThat(json().get(0).get("restarts").asInt()).isEqualTo(2);
    assertThat(run("health")).isZero();
    assertThat(said()).contains(TAG, "healthy", "all is well");
    health().processes().ended(PLACE, HealthStatus.FAILED, 9, "5 restarts within 5 minutes", null);
    assertThat(run("health")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(said())
        .contains("failed", "9 (handlers)", "5 restarts within 5 minutes")
        .contains("holdfast logs " + TAG);
    assertThat(run("health", "--json")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(json().get("workers").get(0).get("exit").get("name").asText()).isEqualTo("handlers");
    assertThat(json().get("problems").get(0).get("code").asText()).isEqualTo("worker_failed");
    assertThat(json().get("workersPausedAt").isNull()).isTrue();
  }

  /** What a supervisor would do. */
  private Thread supervisor(Consumer<WorkerCommand> does) {
    return Thread.ofVirtual()
        .start(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                health()
                    .commands()
                    .open("here")
                    .forEach(
                        order -> {
                          does.accept(order);
                          health().commands().done(order);
                        });
                LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
              }
            });
  }

  private void obey(WorkerCommand order) {
    switch (order.action()) {
      case PAUSE -> health().processes().paused("here", TAG, true);
      case RESUME, RESTART -> {
        health().processes().starting(PLACE, 0, false);
        health().processes().spawned(PLACE, 4_712, Instant.now());
      }
      case STOP -> health().processes().ended(PLACE, HealthStatus.STOPPING, 0, "stopped", null);
    }
  }

  @Test
  void an_order_to_a_worker_is_seen_to_be_done() throws Exception {
    startTag();
    Thread supervisor = supervisor(this::obey);
    try {
      assertThat(run("workers", "pause", TAG, "--wait", "60s", "--reason", "a test")).isZero();
      assertThat(said()).contains(TAG + " of supervisor 'here' is healthy, paused");
      assertThat(run("workers", "resume", TAG, "--wait", "60s")).isZero();
      assertThat(said()).contains("is starting");
      startTag();
      assertThat(run("workers", "restart", TAG, "--wait", "60s", "--json")).isZero();
      assertThat(json().get("done").asBoolean()).isTrue();
      assertThat(json().get("commands").get(0).get("requestedBy").asText()).isEqualTo(asker());
      assertThat(run("workers", "stop", TAG, "--supervisor", "here", "--wait", "60s")).isZero();
      assertThat(said()).contains("is stopped");
    } finally {
      supervisor.interrupt();
      supervisor.join();
    }
    assertThat(run("workers", "pause", TAG)).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("resume starts it");
  }

  @Test
  void a_command_that_nobody_has_executed_yet_was_given_all_the_same() throws IOException {
    startTag();
    assertThat(run("workers", "stop", TAG, "--wait", "0s")).isZero();
    assertThat(said()).contains("command to stop " + TAG).contains("not done yet");
    assertThat(health().commands().open("here")).hasSize(1);
  }

  @Test
  void all_workers_are_paused_and_resumed() throws IOException {
    startTag();
    health().processes().ended(PLACE, HealthStatus.FAILED, 1, "too often", null);
    assertThat(run("workers", "pause", "--all")).isZero();
    assertThat(said()).contains("all workers are paused");
    assertThat(holdfast.admin().allPausedSince()).isPresent();
    run("workers", "list");
    assertThat(said()).contains("all workers are paused since");
    assertThat(run("workers", "resume", TAG, "--wait", "0s")).isZero();
    assertThat(said()).contains("all workers are still paused");
    assertThat(run("workers", "resume", "--all", "--wait", "0s")).isZero();
    assertThat(said()).contains("all workers are resumed").contains("command to resume " + TAG);
    assertThat(holdfast.admin().allPausedSince()).isEmpty();
    assertThat(run("workers", "resume", "--all", "--wait", "0s")).isZero();
    assertThat(said()).contains("were not all paused");
  }

  @Test
  void an_order_that_makes_no_sense_says_what_would() throws IOException {
    startTag();
    assertThat(run("workers", "stop", "worker:tug:0")).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(complained()).contains("is it " + TAG + "?");
    assertThat(run("workers", "pause")).isEqualTo(ExitCode.USAGE);
    assertThat(complained()).contains("--all");
    assertThat(run("workers", "pause", TAG, "--all")).isEqualTo(ExitCode.USAGE);
    assertThat(run("workers", "pause", "--all", "--supervisor", "here")).isEqualTo(ExitCode.USAGE);
    database.sql("UPDATE holdfast.supervisor SET last_seen = last_seen - interval '31 seconds'");
    assertThat(run("workers", "stop", TAG)).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("holdfast supervise");
    assertThat(complained().lines()).hasSize(1);
  }

  @Test
  void a_payload_that_is_not_json_is_refused() throws IOException {
    assertThat(run("enqueue", "echo", "{\"a\": 1}, \"queue\": \"x\"")).isEqualTo(ExitCode.REFUSED);
    assertThat(run("enqueue", "echo", "nonsense")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained().lines()).hasSize(1);
    assertThat(run("schedules", "set", "x", "@daily", "echo", "{")).isEqualTo(ExitCode.REFUSED);
    assertThat(run("jobs", "list", "--json")).isZero();
    assertThat(json()).isEmpty();
  }

  @Test
  void keys_are_created_listed_rotated_and_revoked_and_shown_once() throws IOException {
    assertThat(
            run("keys", "create", "--role", "operator", "--tenant", "acme", "--expires-in", "90d"))
        .isZero();
    String key = said().strip();
    assertThat(key).matches("hf_[0-9a-f]{12}_[A-Za-z0-9_-]{43}");
    String id = key.substring(3, 15);
    assertThat(complained()).contains(id).doesNotContain(key);

    assertThat(run("keys", "list", "--json")).isZero();
    JsonNode listed = keyOf(id);
    assertThat(listed.get("role").asText()).isEqualTo("operator");
    assertThat(listed.get("tenant").asText()).isEqualTo("acme");
    assertThat(listed.get("expiresAt").isNull()).isFalse();
    assertThat(said()).doesNotContain(key.substring(16));

    assertThat(run("keys", "rotate", id, "--json")).isZero();
    String next = json().get("id").asText();
    assertThat(json().get("key").asText()).startsWith("hf_" + next + "_").isNotEqualTo(key);
    assertThat(run("keys", "list", "--json")).isZero();
    assertThat(keyOf(next).get("tenant").asText()).isEqualTo("acme");
    assertThat(keyOf(next).get("role").asText()).isEqualTo("operator");
    assertThat(keyOf(id).get("revokedAt").isNull()).isFalse();
    assertThat(holdfast.queue().access().validKey(id)).as("during the overlap").isPresent();

    assertThat(run("keys", "revoke", id)).isZero();
    assertThat(holdfast.queue().access().validKey(id)).isEmpty();
    assertThat(run("keys", "revoke", id)).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(run("keys", "rotate", id)).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(run("keys", "list")).isZero();
    assertThat(said()).contains(next).contains("revoked");
  }

  private JsonNode keyOf(String id) throws IOException {
    for (JsonNode key : json()) {
      if (key.get("id").asText().equals(id)) {
        return key;
      }
    }
    throw new AssertionError("no key " + id + " in " + said());
  }

  @Test
  void the_key_that_signs_task_tokens_is_rotated() throws IOException {
    assertThat(run("keys", "rotate", "--signing")).isZero();
    List<String> first = holdfast.queue().access().tokenKeys().stream().map(TokenKey::kid).toList();
    assertThat(run("keys", "rotate", "--signing")).isZero();
    List<String> second =
        holdfast.queue().access().tokenKeys().stream().map(TokenKey::kid).toList();
    assertThat(second).hasSize(first.size() + 1).endsWith(first.toArray(String[]::new));
    assertThat(said()).contains("new key").doesNotContain(second.getFirst());
    assertThat(run("keys", "rotate", "--signing", "--overlap", "1h")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void a_key_that_cannot_be_is_refused() throws IOException {
    assertThat(run("keys", "create")).isEqualTo(ExitCode.USAGE);
    assertThat(run("keys", "create", "--role", "king")).isEqualTo(ExitCode.USAGE);
    assertThat(run("keys", "create", "--role", "viewer", "--expires-in", "0s"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(run("keys", "create", "--role", "viewer", "--tenant", "a b"))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(run("keys", "rotate")).isEqualTo(ExitCode.USAGE);
    assertThat(run("keys", "rotate", "x", "--signing")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void config_shows_each_value_and_its_origin_but_no_password() throws IOException {
    assertThat(runWith(direct(), "config", "--json")).isZero();
    assertThat(json().get("worker.concurrency").get("origin").asText()).isEqualTo("default");
    assertThat(json().get("database.user").get("origin").asText()).contains("holdfast.yaml");
    assertThat(json().get("database.password").get("value").asText()).isEqualTo("***");
    assertThat(runWith(direct(), "config")).isZero();
    assertThat(said()).contains("HEARTBEAT_INTERVAL_SEC").doesNotContain(database.password());
  }

  @Test
  void migrate_says_that_nothing_is_to_be_done() throws IOException {
    assertThat(runWith(direct(), "migrate")).isZero();
    assertThat(said()).contains("up to date");
  }

  @Test
  void a_wrong_id_or_name_is_one_line_and_no_trace() throws IOException {
    assertThat(run("jobs", "show", "1-1-1-1-1")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained().lines()).hasSize(1);
    assertThat(run("enqueue", "no spaces allowed")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("letters, digits");
    assertThat(run("enqueue", "echo", "--priority", "10")).isEqualTo(ExitCode.REFUSED);
    assertThat(run("enqueue", "echo", "--deadline", "tomorrow")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void the_completion_script_is_one_a_shell_accepts() throws Exception {
    said.reset();
    assertThat(Main.run("completion")).isZero();
    Path script = Files.writeString(folder.resolve("completion.sh"), said());
    assertThat(new ProcessBuilder("bash", "-n", script.toString()).start().waitFor()).isZero();
    assertThat(said()).contains("enqueue").contains("--concurrency-key");
    assertThat(said()).contains("hard_reset_step").contains("--step");
  }
}
