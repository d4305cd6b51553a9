package dev.holdfast.chaos.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.load.Ledger;
import dev.holdfast.chaos.load.Secrets;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.wait.Decision;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each invariant is violated on purpose, and the checker finds it. */
class CheckerTest {
  private static final String END =
      "state = 'SUCCEEDED', started_at = now(), finished_at = now(), worker_id = 'w',"
          + " started_event_number = 2, event_count = 3, ";
  private static final String STEPS = "INSERT INTO chaos.done (job_id, step_id, step_index) VALUES";

  /** Makes another job of the run of one. */
  private static final String ANOTHER =
      "CREATE FUNCTION chaos.%s RETURNS void LANGUAGE sql AS $f$ INSERT INTO holdfast.job (id,"
          + " run_id, run_key, queue, tenant, workspace, created_at, run_at, priority, max_attempts, max_crashes, kind,"
          + " state, payload, finished_at, parent_id, started_as, unique_key) SELECT"
          + " gen_random_uuid(), j.run_id, j.run_key, j.queue, j.tenant, j.workspace, now(), now(), 5, 1, 1,"
          + " %s FROM holdfast.job j WHERE j.id = %s $f$;";

  private static EmptyRun run;
  private static Database database;
  private static Holdfast holdfast;

  @BeforeAll
  static void start() throws Exception {
    run = EmptyRun.start();
    database = run.database();
    database.execute(
        "INSERT INTO chaos.workspace VALUES ('abc');"
            + ANOTHER.formatted(
                "child(parent uuid, what text, how text)",
                "what, how, j.payload, CASE WHEN how <> 'PENDING' THEN now() END, j.id, 'kids', NULL",
                "parent")
            + ANOTHER.formatted(
                "turn(of uuid, has jsonb, key text)",
                "j.kind, 'SUCCEEDED', has, now() + interval '1 minute', NULL, NULL, key",
                "of")
            + "CREATE VIEW chaos.done AS SELECT * FROM holdfast.step;"
            + "ALTER VIEW chaos.done ALTER state SET DEFAULT 'DONE';"
            + "ALTER VIEW chaos.done ALTER attempt SET DEFAULT 1;"
            + "ALTER VIEW chaos.done ALTER job_attempt SET DEFAULT 1;"
            + "ALTER VIEW chaos.done ALTER started_at SET DEFAULT now();"
            + "CREATE VIEW chaos.ended AS SELECT job_id, attempt, ended_at, started_at, outcome,"
            + " worker_id, started_event_number FROM holdfast.attempt;"
            + "ALTER VIEW chaos.ended ALTER started_at SET DEFAULT now();"
            + "ALTER VIEW chaos.ended ALTER outcome SET DEFAULT 'CRASHED';"
            + "ALTER VIEW chaos.ended ALTER worker_id SET DEFAULT 'w';"
            + "ALTER VIEW chaos.ended ALTER started_event_number SET DEFAULT 2;"
            + "CREATE VIEW chaos.published AS SELECT job_id, attempt, name, store, size, sha256,"
            + " published_at FROM holdfast.artifact;"
            + "ALTER VIEW chaos.published ALTER name SET DEFAULT 'out';"
            + "ALTER VIEW chaos.published ALTER store SET DEFAULT 's';"
            + "ALTER VIEW chaos.published ALTER size SET DEFAULT 0;"
            + "ALTER VIEW chaos.published ALTER sha256 SET DEFAULT repeat('0', 64);"
            + "ALTER VIEW chaos.published ALTER published_at SET DEFAULT now()");
    holdfast = Holdfast.on(database.direct());
  }

  @AfterAll
  static void stop() {
    holdfast.close();
    run.close();
  }

  private static JobId enqueue(String kind) {
    return holdfast.enqueue(Job.of(kind)).id();
  }

  private static Checker checker(Ledger ledger) {
    return new Checker(database, holdfast, ledger, List.of());
  }

  private static List<String> violations(String rule) throws Exception {
    return checker(new Ledger()).statement(rule).violations();
  }

  /** A job of a kind is made, then changed by a statement in which $ stands for its id. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
      every job has ended | plain | SELECT 1
      no attempt runs twice | plain | INSERT INTO chaos.ran VALUES ($, 1), ($, 1)
      no handler ran under an attempt that was never handed out | plain | INSERT INTO chaos.ran VALUES ($, 5)
      a result is of the attempt that holds the job | plain | UPDATE holdfast.job SET END attempt = 2, result = '{"attempt":1}' WHERE id = $
      a result is of the attempt that holds the job | plain | UPDATE holdfast.job SET END attempt = 1 WHERE id = $
      a job that succeeded in its own transaction has its effect once | effect | UPDATE holdfast.job SET END attempt = 1 WHERE id = $
      a job that succeeded in its own transaction has its effect once | effect | UPDATE holdfast.job SET END attempt = 1 WHERE id = $; INSERT INTO chaos.effect VALUES ($, 1), ($, 1)
      a job that did not succeed has no effect | effect | INSERT INTO chaos.effect VALUES ($, 1)
      an effect is of the attempt that holds the job | effect | INSERT INTO chaos.effect VALUES ($, 1)
      steps are done once each and all of them | steps | UPDATE holdfast.job SET END attempt = 1, result = '{"attempt":1,"sum":4}' WHERE id = $
      a signal is taken by one wait, and a wait takes one | waiting | UPDATE holdfast.job SET END attempt = 1, result = '{"attempt":1,"one":2,"two":2}' WHERE id = $
      a signal is taken by one wait, and a wait takes one | waiting | INSERT INTO holdfast.signal (job_id, number, name, payload, sent_by, sent_at, taken_by) SELECT $, n, 'go', '1', '', now(), 'one' FROM generate_series(1, 2) AS n
      a signal that is taken is what its wait has brought | waiting | INSERT INTO holdfast.signal (job_id, number, name, payload, sent_by, sent_at, taken_by) VALUES ($, 9, 'go', '1', '', now(), 'one')
      a job that sleeps is not woken early | waiting | UPDATE holdfast.job SET payload = '{"millis":500}' WHERE id = $; INSERT INTO holdfast.step (job_id, step_id, step_index, state, attempt, job_attempt, started_at, finished_at) VALUES ($, 'nap', 1, 'DONE', 1, 1, now(), now())
      a wait for jobs ends after all of them, and each was started once | waiting | UPDATE holdfast.job SET END attempt = 1, result = '{"attempt":1,"joined":2}' WHERE id = $
      a wait is over once | waiting | INSERT INTO holdfast.event VALUES ($, 9, 'resumed', 1, now(), '{"waitId":"ok"}'), ($, 10, 'resumed', 2, now(), '{"waitId":"ok"}')
      a wait for any job ends with a job that has ended | choosing | UPDATE holdfast.job SET END attempt = 1, result = '{"attempt":1}' WHERE id = $; STEPS ($, 'first', 1)
      a wait for any job ends with a job that has ended | choosing | UPDATE holdfast.job SET END attempt = 1, result = '{"attempt":1,"first":"x","state":"SUCCEEDED"}' WHERE id = $; SELECT chaos.child($, 'plain', 'SUCCEEDED'); INSERT INTO chaos.done (job_id, step_id, step_index, finished_at, ended) SELECT $, 'first', 1, now() + interval '1 minute', jsonb_build_object('job', c.id) FROM holdfast.job c WHERE c.parent_id = $
      a job that fails ends the wait for it, and the others are cancelled | daring | UPDATE holdfast.job SET END attempt = 1, result = '{"attempt":1,"failed":"none"}' WHERE id = $; SELECT chaos.child($, 'doomed', 'FAILED')
      a job that fails ends the wait for it, and the others are cancelled | daring | UPDATE holdfast.job SET END attempt = 1, result = '{"attempt":1,"failed":"none"}' WHERE id = $; SELECT chaos.child($, 'plain', 'PENDING')
      a chain of jobs has each turn once, and none is missing | chain | UPDATE holdfast.job SET END attempt = 1, payload = '{"number":1,"sum":0}' WHERE id = $
      a chain of jobs has each turn once, and none is missing | chain | UPDATE holdfast.job SET END attempt = 1, payload = '{"number":1,"sum":0}' WHERE id = $; SELECT chaos.turn($, '{"number":2,"sum":1}', 'key'); SELECT chaos.turn($, '{"number":2,"sum":1}', 'key')
      a chain of jobs has each turn once, and none is missing | chain | UPDATE holdfast.job SET END attempt = 1, payload = '{"number":4,"sum":6}' WHERE id = $; SELECT chaos.turn($, '{"number":5,"sum":10}', 'key')
      what a turn of a chain has is handed on to the next | chain | UPDATE holdfast.job SET payload = '{"number":3,"sum":3}' WHERE id = $
      what a turn of a chain has is handed on to the next | chain | UPDATE holdfast.job SET payload = '{"number":2,"sum":1}', unique_key = 'key', started_at = now() WHERE id = $; SELECT chaos.turn($, '{"number":1,"sum":0}', 'key')
      what a turn of a chain has is handed on to the next | chain | UPDATE holdfast.job SET payload = '{"number":2,"sum":1}', unique_key = 'other' WHERE id = $; SELECT chaos.turn($, '{"number":1,"sum":0}', 'key')
      what a turn of a chain has is handed on to the next | chain | UPDATE holdfast.job SET payload = '{"number":2,"sum":2}', unique_key = 'key' WHERE id = $; SELECT chaos.turn($, '{"number":1,"sum":0}', 'key')
      a signal to a chain of jobs goes on with it | chain | UPDATE holdfast.job SET END attempt = 1, payload = '{"number":1,"sum":0}' WHERE id = $; INSERT INTO holdfast.signal (job_id, number, name, payload, sent_by, sent_at) VALUES ($, 9, 'go', '1', '', now())
      a job that has ended waits for nothing | waiting | UPDATE holdfast.job SET END attempt = 1, wait_sort = 'SLEEP' WHERE id = $
      no write is refused to the attempt that holds the job | plain | UPDATE holdfast.job SET END attempt = 2 WHERE id = $; INSERT INTO chaos.refused VALUES ($, 1), ($, 2)
      a workspace has the change of each step once | workspace | UPDATE holdfast.job SET END attempt = 1, result = '{"tree":"abc"}' WHERE id = $; STEPS ($, 'one', 1), ($, 'two', 2)
      a workspace has the change of each step once | workspace | UPDATE holdfast.job SET END attempt = 1, result = '{"tree":"twice"}' WHERE id = $; STEPS ($, 'one', 1), ($, 'two', 2), ($, 'three', 3)
      no job fails: nothing but faults stops it | plain | UPDATE holdfast.job SET state = 'FAILED', finished_at = now(), failure = '{"code":"X"}' WHERE id = $
      an attempt ends once, and is counted once | plain | UPDATE holdfast.job SET crashes = 1 WHERE id = $
      an attempt begins after the one before it has ended | plain | UPDATE holdfast.job SET END attempt = 2 WHERE id = $; INSERT INTO chaos.ended VALUES ($, 1, now() + interval '3 seconds')
      each attempt has one end | plain | UPDATE holdfast.job SET END attempt = 2 WHERE id = $
      each attempt has one end | plain | UPDATE holdfast.job SET END attempt = 1 WHERE id = $; INSERT INTO chaos.ended VALUES ($, 1, now())
      an artifact is of the attempt that holds the job, and there | artifact | UPDATE holdfast.job SET END attempt = 1 WHERE id = $
      an artifact is of the attempt that holds the job, and there | artifact | UPDATE holdfast.job SET END attempt = 1 WHERE id = $; INSERT INTO chaos.published VALUES ($, 2)
      """)
  void a_broken_rule_is_found(String rule, String kind, String breaking) throws Exception {
    JobId job = enqueue(kind);
    boolean waits = rule.equals("every job has ended");
    assertThat(violations(rule)).noneMatch(it -> !waits && it.contains(job.toString()));
    execute(breaking, job);
    assertThat(violations(rule)).anyMatch(it -> it.contains(job.toString()));
  }

  private static void execute(String statement, JobId job) throws Exception {
    database.execute(
        statement
            .replace("SET END", "SET " + END)
            .replace("STEPS", STEPS)
            .replace("$", "'" + job + "'"));
  }

  @Test
  void a_workspace_with_all_its_steps_breaks_no_rule() throws Exception {
    JobId job = enqueue("workspace");
    execute(
        "UPDATE holdfast.job SET END attempt = 1, result = '{\"tree\":\"abc\"}' WHERE id = $;"
            + " STEPS ($, 'one', 1), ($, 'two', 2), ($, 'three', 3)",
        job);
    for (Finding finding : checker(new Ledger()).all()) {
      assertThat(finding.violations())
          .as(finding.rule())
          .noneMatch(it -> it.contains(job.toString()) && !finding.rule().contains("asked for"));
    }
  }

  @Test
  void a_refused_write_and_a_late_result_count_once() throws Exception {
    JobId job = enqueue("plain");
    Refused before = Refused.of(database, List.of());
    String values =
        "INSERT INTO chaos.refused VALUES ($, 1, 'event'), ($, 1, 'event'), ($, 1, 'result')";
    execute(values, job);
    String late = " INFO AttemptLog -- late result of plain %s#%d refused: it lost its lease";
    List<String> printed =
        List.of(
            late.formatted(job, 1), // of which the handler has told
            late.formatted(job, 2),
            late.formatted(job, 2),
            "another line");
    Refused after = Refused.of(database, printed);
    assertThat(after.writes() - before.writes()).isEqualTo(2);
    assertThat(after.results()).isEqualTo(1);
  }

  private static List<String> timelines(String rule) throws Exception {
    return new Timelines(database, holdfast)
        .all().stream()
            .filter(finding -> finding.rule().equals(rule))
            .flatMap(finding -> finding.violations().stream())
            .toList();
  }

  @Test
  void a_gap_in_a_timeline_is_found() throws Exception {
    JobId job = enqueue("plain");
    assertThat(timelines("a timeline has no gap")).noneMatch(it -> it.contains(job.toString()));
    execute(
        "UPDATE holdfast.job SET crashes = 9, event_count = 9 WHERE id = $;"
            + "INSERT INTO holdfast.event VALUES ($, 9, 'x', 1, now(), '{}')",
        job);
    assertThat(timelines("a timeline has no gap")).contains(job + " has no event 2");
  }

  @Test
  void a_timeline_with_another_end_than_the_row_or_with_two_is_found() throws Exception {
    String rule = "a timeline says what the row says";
    JobId job = enqueue("plain");
    execute("UPDATE holdfast.job SET END crashes = 9, attempt = 1 WHERE id = $", job);
    assertThat(timelines(rule)).noneMatch(it -> it.contains(job.toString()));
    execute(
        "UPDATE holdfast.job SET event_count = 4 WHERE id = $;"
            + "INSERT INTO holdfast.event VALUES ($, 3, 'failed', 1, now(), '{}')",
        job);
    assertThat(timelines(rule))
        .contains(
            job
                + " has 4 events, attempt 1, ended [SUCCEEDED], the timeline"
                + " 4 events, attempt 1, ended [FAILED, SUCCEEDED]");
  }

  @Test
  void an_attempt_that_was_lowered_is_found() throws Exception {
    JobId job = enqueue("plain");
    execute(
        "UPDATE holdfast.job SET END crashes = 9, attempt = 1 WHERE id = $;"
            + "UPDATE holdfast.job SET started_event_number = 3, event_count = 4 WHERE id = $;"
            + "INSERT INTO chaos.ended VALUES ($, 2, now())",
        job);
    assertThat(timelines("attempts only go up")).contains(job + " has attempt 1 after attempt 2");
  }

  @Test
  void two_unfinished_jobs_with_one_unique_key_are_found() throws Exception {
    Ledger ledger = new Ledger();
    for (int i = 0; i < 2; i++) {
      Job job = Job.of("plain").uniqueKey("twice");
      holdfast.enqueue(job);
      // As if the key were free again.
      database.execute("UPDATE holdfast.job SET unique_states = 0 WHERE id = '" + job.id() + "'");
      ledger.acknowledged(job);
    }
    assertThat(checker(ledger).uniqueKeys().violations()).hasSize(1);
    execute(
        "UPDATE holdfast.job SET END attempt = 1 WHERE id = $;"
            + "UPDATE holdfast.job SET finished_at = now() + interval '1 minute' WHERE id = $",
        ledger.uniqueKeys().get("twice").getFirst().job());
    assertThat(checker(ledger).uniqueKeys().violations()).hasSize(1);
    execute(
        "UPDATE holdfast.job SET finished_at = now() - interval '1 minute' WHERE id = $",
        ledger.uniqueKeys().get("twice").getFirst().job());
    assertThat(checker(ledger).uniqueKeys().holds()).isTrue();
  }

  @Test
  void a_lost_job_and_one_that_was_never_enqueued_are_found() throws Exception {
    Job lost = Job.of("plain");
    Ledger ledger = new Ledger();
    ledger.acknowledged(lost);
    assertThat(checker(ledger).acknowledged().violations()).containsExactly(lost.id().toString());
    JobId stranger = enqueue("plain");
    assertThat(checker(ledger).unasked().violations())
        .isNotEmpty()
        .doesNotContain(lost.id().toString());
    ledger.acknowledged(Job.of("plain").id(stranger));
    assertThat(checker(ledger).unasked().violations()).doesNotContain(stranger.toString());
  }

  @Test
  void a_question_that_is_decided_twice_or_otherwise_than_its_wait_has_it_is_found()
      throws Exception {
    JobId job = enqueue("waiting");
    Ledger ledger = new Ledger();
    ledger.decided(job, new Decision(true, "one", ""));
    assertThat(checker(ledger).decisions().violations()).hasSize(1);
    execute(
        "INSERT INTO chaos.done (job_id, step_id, step_index, ended) VALUES ($, 'ok', 1,"
            + " '{\"sort\":\"APPROVAL\",\"outcome\":\"APPROVED\",\"by\":\"one\"}')",
        job);
    assertThat(checker(ledger).decisions().holds()).isTrue();
    ledger.decided(job, new Decision(true, "two", ""));
    assertThat(checker(ledger).decisions().violations()).hasSize(1);
  }

  @Test
  void an_acknowledged_cancel_without_effect_is_found() throws Exception {
    JobId job = enqueue("plain");
    Ledger ledger = new Ledger();
    ledger.cancelled(new Cancellation(job, JobState.PENDING, Cancellation.Outcome.CANCELLED));
    assertThat(checker(ledger).cancels().violations()).hasSize(1);
    database.execute(
        "UPDATE holdfast.job SET state = 'CANCELLED', finished_at = now() WHERE id = '"
            + job
            + "'");
    assertThat(checker(ledger).cancels().violations()).isEmpty();
  }

  @Test
  void a_job_that_starts_too_early_is_found() throws Exception {
    JobId first = enqueue("plain");
    JobId second = holdfast.enqueue(Job.of("plain").dependsOn(first)).id();
    database.execute("INSERT INTO chaos.ran VALUES ('" + second + "', 1)");
    String rule = "no job starts before what it waits for has ended";
    assertThat(violations(rule)).isEmpty();
    database.execute(
        "UPDATE holdfast.job SET "
            + END
            + "attempt = 1, result = '{\"attempt\":1}' WHERE id = '"
            + first
            + "'");
    assertThat(violations(rule)).containsExactly(second.toString());
  }

  @Test
  void a_time_of_a_schedule_without_a_job_or_with_two_is_found() throws Exception {
    String rule = "a schedule makes one job for each of its times";
    database.execute(
        "INSERT INTO holdfast.schedule (name, cron, zone, missed_fires, allow_overlap, queue, kind,"
            + " priority, max_crashes, payload, next_fire_at, last_fired_at) VALUES ('tick',"
            + " '@every 1s', 'UTC', 'ALL', true, 'default', 'tick', 5, 3, '{}', now(), now());"
            + "INSERT INTO chaos.first_tick VALUES ('tick', now() - interval '1 second')");
    enqueue("tick");
    assertThat(violations(rule)).containsExactly("tick made 1 jobs for 2 times");
    enqueue("tick");
    assertThat(violations(rule)).isEmpty();
    enqueue("tick");
    assertThat(violations(rule)).containsExactly("tick made 3 jobs for 2 times");
  }

  @Test
  void a_secret_in_a_table_or_on_the_output_is_found() throws Exception {
    assertThat(checker(new Ledger()).secrets().holds()).isTrue();
    List<String> printed = List.of("ready", "token " + Secrets.PLANTED);
    assertThat(new Checker(database, holdfast, new Ledger(), printed).secrets().violations())
        .hasSize(1);
    JobId job = holdfast.enqueue(Job.of("plain", Map.of("at", Secrets.PLANTED))).id();
    assertThat(checker(new Ledger()).secrets().violations())
        .containsExactly("1 rows of holdfast.job have it");
    database.execute("UPDATE holdfast.job SET payload = '{}' WHERE id = '" + job + "'");
  }

  @Test
  void a_job_that_is_no_longer_as_it_was_seen_is_found() throws Exception {
    JobId job = enqueue("plain");
    database.execute("UPDATE holdfast.job SET " + END + "attempt = 1 WHERE id = '" + job + "'");
    Sightings sightings = new Sightings(database);
    sightings.look();
    assertThat(sightings.finding().holds()).isTrue();
    database.execute("UPDATE holdfast.job SET attempt = 2 WHERE id = '" + job + "'");
    assertThat(sightings.finding().violations())
        .containsExactly(job + " was SUCCEEDED in attempt 1 and is SUCCEEDED in attempt 2");
  }

  @Test
  void a_live_stream_that_missed_a_change_is_found() throws Exception {
    JobId job = enqueue("plain");
    LiveReader reader = new LiveReader(1);
    assertThat(reader.finding(database).violations()).hasSize(1);
    reader.line("event: queue:jobs");
    reader.line("data: {\"jobs\":[{\"id\":\"" + job + "\",\"state\":\"RUNNING\"}]}");
    assertThat(reader.finding(database).violations())
        .containsExactly(job + " is PENDING, the stream said RUNNING");
    reader.line("data: {\"jobs\":[{\"id\":\"" + job + "\",\"state\":\"PENDING\"}]}");
    assertThat(reader.finding(database).holds()).isTrue();
    reader.line("data: {\"jobs\":[{\"id\":\"" + job + "\",\"state\":\"FAILED\"}]}");
    reader.line("event: reset");
    reader.line("data: {}");
    assertThat(reader.finding(database).holds()).isTrue();
  }

  @Test
  void a_connection_of_the_program_that_was_not_closed_is_found() throws Exception {
    String rule = "no connection, transaction or lock is left";
    try (Connection connection = database.direct().getConnection()) {
      connection.setClientInfo("ApplicationName", "holdfast");
      assertThat(violations(rule)).anyMatch(it -> it.startsWith("backend "));
      connection.setClientInfo("ApplicationName", "");
    }
    assertThat(violations(rule)).isEmpty();
  }

  @Test
  void a_transaction_that_was_left_open_is_found() throws Exception {
    String rule = "no connection, transaction or lock is left";
    try (Connection connection = database.direct().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("SELECT 1");
      assertThat(violations(rule)).singleElement().asString().contains("idle in transaction");
      connection.rollback();
    }
    assertThat(violations(rule)).isEmpty();
  }

  @Test
  void a_lock_that_was_not_released_is_found() throws Exception {
    try (Connection connection = database.direct().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_advisory_lock(1)");
      assertThat(violations("no connection, transaction or lock is left"))
          .containsExactly("lock advisory");
      statement.execute("SELECT pg_advisory_unlock(1)");
    }
    assertThat(violations("no connection, transaction or lock is left")).isEmpty();
  }
}
