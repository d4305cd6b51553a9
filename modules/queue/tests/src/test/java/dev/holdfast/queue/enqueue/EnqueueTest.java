package dev.holdfast.queue.enqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.Queue;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class EnqueueTest extends QueueFixture {
  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  @Test
  void what_a_job_brings_along_for_its_worker_comes_with_the_claim_and_can_be_looked_at() {
    Job job =
        job()
            .assetId("table \"orders\"")
            .partitionKey("2026-11-17")
            .resources(new Json("{\"cpu\": 1.50}"))
            .traceparent(TRACE);
    JobAttributes brought =
        new JobAttributes("table \"orders\"", "2026-11-17", new Json("{\"cpu\":1.50}"), TRACE);
    JobId id = add(job);
    assertThat(queries.find(id).orElseThrow().attributes()).isEqualTo(brought);
    assertThat(claim(1).getFirst().attributes()).isEqualTo(brought);
    JobId keyed = add(job().concurrencyKey("k", 1).traceparent(TRACE));
    assertThat(claim(1))
        .extracting(LeasedJob::id, claimed -> claimed.attributes().traceparent())
        .containsExactly(tuple(keyed, TRACE));
    List<Job> both = List.of(job().resources(Map.of("gpu", 1)), job());
    queue.enqueue(both);
    assertThat(claim(2))
        .extracting(claimed -> claimed.attributes().resources().text())
        .containsExactlyInAnyOrder("{\"gpu\":1}", "{}");
    assertThat(queries.find(both.getLast().id()).orElseThrow().attributes())
        .isEqualTo(JobAttributes.NONE);
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE attributes IS NULL")).isEqualTo(1);
  }

  @Test
  void resources_are_an_object_that_can_be_stored() {
    assertRefused(Refusal.BAD_RESOURCES, () -> add(job().resources(List.of(1))));
    assertRefused(Refusal.BAD_RESOURCES, () -> add(job().resources(new Json("{\"a\": "))));
    assertRefused(Refusal.BAD_RESOURCES, () -> add(job().resources(new Json("{}, \"b\": {}"))));
    assertRefused(
        Refusal.BAD_RESOURCES, () -> add(job().resources(Map.of("a", "x".repeat(5_000)))));
    assertRefused(
        Refusal.PAYLOAD_NOT_JSON, () -> add(job().resources(new Json("{\"a\": \"\\u0000\"}"))));
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isZero();
  }

  @Test
  void a_job_that_is_handed_in_again_may_be_in_another_span_but_not_of_another_asset() {
    Job job = job().assetId("orders").traceparent(TRACE);
    add(job);
    add(job.traceparent(TRACE.replace("-01", "-00")));
    assertRefused(Refusal.ID_TAKEN, () -> add(job.assetId("customers")));
    assertRefused(Refusal.ID_TAKEN, () -> add(job().id(job.id())));
    Job plain = job();
    add(plain);
    add(plain.traceparent(TRACE));
    assertThat(queries.find(job.id()).orElseThrow().attributes().traceparent()).isEqualTo(TRACE);
  }

  @Test
  void attempts_that_a_job_does_not_say_are_those_of_its_kind_or_queue() throws Exception {
    RetryDefaults defaults =
        new RetryDefaults(
            new Retries(4, null),
            Map.of("mail", new Retries(6, null)),
            Map.of("slow", new Retries(5, null)));
    try (Queue own =
            new Queue(
                db.dataSource(), new JacksonCodec(), Queue.Options.DEFAULT.retries(defaults));
        Connection connection = db.dataSource().getConnection()) {
      assertThat(attempts(own.jobs().enqueue(job()))).isEqualTo(4);
      assertThat(attempts(own.jobs().enqueue(job().maxAttempts(2)))).isEqualTo(2);
      assertThat(own.jobs().enqueue(List.of(job().queue("slow"), Job.of("mail").queue("slow"))))
          .extracting(this::attempts)
          .containsExactly(5, 6);
      assertThat(attempts(own.jobs().enqueue(connection, List.of(Job.of("mail"))).getFirst()))
          .isEqualTo(6);
      assertThat(
              attempts(own.jobs().enqueueOnce("t", "key", "d", List.of(Job.of("mail"))).getFirst()))
          .isEqualTo(6);
    }
  }

  private int attempts(Enqueued enqueued) {
    return status(enqueued.id()).maxAttempts();
  }

  record Mail(String to, int copies) {}

  @Test
  void a_job_is_stored_as_it_was_described() {
    JobId run = JobId.next();
    JobId parent = JobId.next();
    Instant deadline = Instant.now().plusSeconds(3_600).truncatedTo(ChronoUnit.MICROS);
    Job job =
        Job.of("send-mail", new Mail("a \"quoted\" \\ name, {NULL} ü😀", 3))
            .queue("mail")
            .priority(2)
            .maxAttempts(7)
            .maxCrashes(4)
            .timeout(Duration.ofSeconds(5))
            .deadline(deadline)
            .owner("acme", "blue")
            .run(run, "step-1")
            .parent(parent)
            .uniqueKey("NULL")
            .concurrencyKey("{\"a\",\\}", 3);

    assertThat(queue.enqueue(job)).isEqualTo(new Enqueued(job.id(), false));

    JobStatus status = status(job.id());
    assertThat(status.kind()).isEqualTo("send-mail");
    assertThat(status.queue()).isEqualTo("mail");
    assertThat(status.state()).isEqualTo(JobState.PENDING);
    assertThat(status.priority()).isEqualTo(2);
    assertThat(new JacksonCodec().decode(status.payload(), Mail.class)).isEqualTo(job.payload());
    assertThat(status.attempt()).isZero();
    assertThat(status.failures()).isZero();
    assertThat(status.maxAttempts()).isEqualTo(7);
    assertThat(status.crashes()).isZero();
    assertThat(status.maxCrashes()).isEqualTo(4);
    assertThat(status.deadline()).isEqualTo(deadline);
    assertThat(status.tenant()).isEqualTo("acme");
    assertThat(status.workspace()).isEqualTo("blue");
    assertThat(status.run()).isEqualTo(run);
    assertThat(status.runKey()).isEqualTo("step-1");
    assertThat(status.parent()).isEqualTo(parent);
    assertThat(status.uniqueKey()).isEqualTo("NULL");
    assertThat(status.concurrencyKey()).isEqualTo("{\"a\",\\}");
    assertThat(status.runAt()).isEqualTo(status.createdAt());
    assertThat(status.result()).isNull();
    assertThat(status.failure()).isNull();
    assertThat(status.worker()).isNull();
    assertThat(status.startedAt()).isNull();
    assertThat(status.finishedAt()).isNull();
    assertThat(queue.claim("mail", 1, WORKER, LEASE).jobs().getFirst().timeout())
        .isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void there_is_nothing_to_find_under_an_unknown_id() {
    assertThat(queries.find(JobId.next())).isEmpty();
    assertThat(queries.timeline(JobId.next())).isEmpty();
    assertThat(queries.attempts(JobId.next())).isEmpty();
  }

  @Test
  void many_jobs_are_enqueued_at_once_and_answered_in_their_order() {
    List<Job> jobs = new ArrayList<>(jobs(1_000));
    Collections.shuffle(jobs, new Random(7));
    assertThat(queue.enqueue(jobs))
        .isEqualTo(jobs.stream().map(job -> new Enqueued(job.id(), false)).toList());
    assertThat(count(JobState.PENDING)).isEqualTo(1_000);
  }

  @Test
  void enqueueing_the_same_job_twice_makes_one_job() {
    Job job = Job.of("test", new Json("{\"n\": 1}"));
    queue.enqueue(job);
    assertThat(queue.enqueue(job)).isEqualTo(new Enqueued(job.id(), false));
    assertThat(queue.enqueue(List.of(job(), job)))
        .extracting(Enqueued::duplicate)
        .containsOnly(false);
    assertThat(count(JobState.PENDING)).isEqualTo(2);
  }

  static Stream<UnaryOperator<Job>> others() {
    return Stream.of(
        job -> job.queue("other"),
        job -> job.priority(9),
        job -> job.maxAttempts(7),
        job -> job.maxCrashes(7),
        job -> job.timeout(Duration.ofMinutes(7)),
        job -> job.owner("other", "default"),
        job -> job.owner("default", "other"),
        job -> job.run(JobId.next(), "test"),
        job -> job.run(job.id(), "other"),
        job -> job.parent(JobId.next()),
        job -> job.uniqueKey("other"),
        job -> Job.of("other", new Json("{\"n\": 1}")).id(job.id()),
        job -> Job.of("test", new Json("{\"n\": 2}")).id(job.id()));
  }

  @ParameterizedTest
  @MethodSource("others")
  void another_job_of_the_same_id_is_refused_and_nothing_is_written(UnaryOperator<Job> changed)
      throws SQLException {
    Job job = Job.of("test", new Json("{\"n\": 1}"));
    queue.enqueue(job);
    String before = row(job.id());
    Job other = changed.apply(job);
    assertRefused(Refusal.ID_TAKEN, () -> queue.enqueue(other));
    assertRefused(Refusal.ID_TAKEN, () -> queue.enqueue(List.of(job(), other)));
    try (Connection connection = db.connection()) {
      assertRefused(Refusal.ID_TAKEN, () -> queue.enqueue(connection, List.of(job(), other)));
    }
    assertThat(row(job.id())).isEqualTo(before);
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(1);
  }

  @Test
  void a_job_sent_again_is_the_same_whatever_has_become_of_it() {
    Job job =
        Job.of("test", new Json("{\"price\": 1.10, \"n\": 1}"))
            .delay(Duration.ofMillis(1))
            .deadline(Instant.now().plusSeconds(3_600))
            .concurrencyKey("k", 1)
            .uniqueKey("u");
    Lease lease = addAndClaim(job);
    queue.settle(fail(lease, HOPELESS));
    queue.retry(List.of(job.id()));
    set(job.id(), "deadline = NULL, concurrency_key = 'crashed:w', run_at = now()");
    Job again = Job.of("test", new Json("{\"n\":1,\"price\":1.1}")).id(job.id()).uniqueKey("u");
    assertThat(queue.enqueue(again)).isEqualTo(new Enqueued(job.id(), false));
  }

  @Test
  void a_job_that_ended_meanwhile_is_not_enqueued_again() {
    Job job = job();
    queue.settle(succeed(addAndClaim(job)));
    assertThat(queue.enqueue(job)).isEqualTo(new Enqueued(job.id(), false));
    assertThat(state(job.id())).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_job_enqueued_by_many_threads_at_once_is_one_job() {
    Job job = job();
    assertThat(Parallel.run(8, i -> () -> queue.enqueue(job)))
        .containsOnly(new Enqueued(job.id(), false));
    assertThat(count(JobState.PENDING)).isEqualTo(1);
  }

  @Test
  void one_id_cannot_stand_twice_in_one_enqueue() {
    Job job = job();
    assertRefused(Refusal.BAD_ID, () -> queue.enqueue(List.of(job, job)));
    assertThat(count(JobState.PENDING)).isZero();
  }

  @Test
  void a_job_of_the_callers_transaction_appears_with_its_commit() throws SQLException {
    Job job = job();
    db.sql("CREATE TABLE IF NOT EXISTS effect (id uuid)");
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      connection.createStatement().execute("INSERT INTO effect VALUES (gen_random_uuid())");
      assertThat(queue.enqueue(connection, List.of(job)))
          .containsExactly(new Enqueued(job.id(), false));
      assertThat(claim(1)).isEmpty();
      connection.commit();
    }
    assertThat(claimOne().job()).isEqualTo(job.id());
    assertThat(db.count("SELECT count(*) FROM effect")).isEqualTo(1);
  }

  @Test
  void a_job_of_the_callers_transaction_goes_with_its_rollback() throws SQLException {
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      queue.enqueue(connection, List.of(job(), job().uniqueKey("k")));
      connection.rollback();
    }
    assertThat(count(JobState.PENDING)).isZero();
    assertThat(queue.enqueue(job().uniqueKey("k")).duplicate()).isFalse();
  }

  @Test
  void a_job_is_created_when_it_is_enqueued_not_when_the_transaction_began() throws SQLException {
    Job job = job();
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      connection.createStatement().execute("SELECT 1");
      queue.enqueue(connection, List.of(job));
      assertThat(
              Sql.of("SELECT created_at > now() AS later FROM holdfast.job WHERE id = :job")
                  .on(connection)
                  .set("job", job.id())
                  .list(row -> row.getBoolean("later")))
          .containsExactly(true);
      connection.commit();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "not json",
        "{\"a\":",
        "{\"a\": NaN}",
        "{\"nul\": \"\\u0000\"}",
        "{\"half\": \"\\ud83d\"}",
        "{\"half\": \"\uD83D\"}",
        "{\"nul\": \"\0\"}",
        "{\"huge\": 1e1000000}",
      })
  void a_payload_postgresql_cannot_store_is_refused_and_nothing_is_written(String payload) {
    Job bad = Job.of("test", new Json(payload));
    assertRefused(Refusal.PAYLOAD_NOT_JSON, () -> queue.enqueue(bad));
    assertRefused(Refusal.PAYLOAD_NOT_JSON, () -> queue.enqueue(List.of(job(), bad, job())));
    assertRefused(
        Refusal.PAYLOAD_NOT_JSON, () -> queue.enqueue(List.of(job().uniqueKey("k"), bad)));
    assertThat(count(JobState.PENDING)).isZero();
    assertThat(queue.enqueue(job().uniqueKey("k")).duplicate()).isFalse();
  }

  @Test
  void a_payload_nested_without_end_is_refused() {
    Job deep = Job.of("test", new Json("[".repeat(100_000) + "]".repeat(100_000)));
    assertRefused(Refusal.PAYLOAD_NOT_JSON, () -> queue.enqueue(deep));
    assertThat(count(JobState.PENDING)).isZero();
  }

  @Test
  void a_payload_no_codec_can_write_is_refused() {
    Object unwritable = Map.of("self", new Object());
    assertRefused(
        Refusal.PAYLOAD_NOT_JSON, () -> queue.enqueue(List.of(job(), Job.of("test", unwritable))));
    assertThat(count(JobState.PENDING)).isZero();
  }

  @Test
  void a_payload_over_the_limit_is_refused_and_one_at_the_limit_is_stored() {
    String text = "x".repeat(Limits.PAYLOAD_BYTES - 2);
    JobId id = add(Job.of("test", text));
    assertThat(status(id).payload().text()).hasSize(Limits.PAYLOAD_BYTES);
    assertRefused(
        Refusal.PAYLOAD_TOO_LARGE, () -> queue.enqueue(List.of(job(), Job.of("test", text + "x"))));
    assertThat(count(JobState.PENDING)).isEqualTo(1);
  }

  @Test
  void ten_thousand_jobs_are_taken_at_once_and_one_more_is_refused() {
    List<Job> most = jobs(Limits.BULK_JOBS);
    List<Job> tooMany = new ArrayList<>(most);
    tooMany.add(job());
    assertRefused(Refusal.TOO_MANY_JOBS, () -> queue.enqueue(tooMany));
    assertThat(count(JobState.PENDING)).isZero();
    queue.enqueue(most);
    assertThat(count(JobState.PENDING)).isEqualTo(10_000);
  }

  @Test
  void payloads_that_are_too_large_together_are_refused() {
    Json large = new Json("\"" + "x".repeat(Limits.PAYLOAD_BYTES - 2) + "\"");
    List<Job> jobs = IntStream.range(0, 65).mapToObj(i -> Job.of("test", large)).toList();
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> queue.enqueue(jobs));
    assertThat(count(JobState.PENDING)).isZero();
  }

  @Test
  void a_delayed_job_is_due_when_its_delay_is_over() {
    JobId later = add(job().delay(Duration.ofHours(1)));
    assertThat(Duration.between(status(later).createdAt(), status(later).runAt()))
        .isEqualTo(Duration.ofHours(1));
    assertThat(claim(1)).isEmpty();
    comeDue(later);
    assertThat(claimOne().job()).isEqualTo(later);
  }

  @Test
  void a_job_may_name_the_moment_it_is_due() {
    Instant moment = Instant.parse("2099-01-01T00:00:00.123456Z");
    assertThat(status(add(job().runAt(moment))).runAt()).isEqualTo(moment);
    assertThat(claim(1)).isEmpty();
    JobId past = add(job().runAt(Instant.parse("2001-01-01T00:00:00Z")));
    assertThat(claimOne().job()).isEqualTo(past);
  }

  @Test
  void urgent_jobs_come_first_and_equals_in_the_order_they_came() {
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      jobs.add(job().priority(i % 10));
    }
    queue.enqueue(jobs);
    List<JobId> expected =
        IntStream.range(0, 10)
            .boxed()
            .flatMap(lane -> jobs.stream().filter(job -> job.priority() == lane))
            .map(Job::id)
            .toList();
    List<JobId> claimed = new ArrayList<>();
    for (int size : new int[] {1, 7, 52}) {
      claimed.addAll(claim(size).stream().map(LeasedJob::id).toList());
    }
    assertThat(claimed).isEqualTo(expected);
  }

  @Test
  void ids_are_in_the_same_order_here_and_in_postgresql() {
    List<JobId> ids = new ArrayList<>();
    Random random = new Random(11);
    for (int i = 0; i < 500; i++) {
      ids.add(new JobId(new UUID(random.nextLong(), random.nextLong())));
      ids.add(JobId.next());
    }
    queue.enqueue(ids.stream().map(id -> job().id(id)).toList());
    List<JobId> sorted =
        db.query("SELECT id FROM holdfast.job ORDER BY id").stream()
            .map(row -> new JobId((UUID) Objects.requireNonNull(row.get("id"))))
            .toList();
    Collections.sort(ids);
    assertThat(sorted).isEqualTo(ids);
  }

  @Test
  void a_caller_learns_when_the_database_does_not_take_its_jobs() {
    db.sql("ALTER TABLE holdfast.job ADD CONSTRAINT no_more CHECK (kind <> 'test')");
    try {
      assertThatThrownBy(() -> queue.enqueue(job()))
          .isInstanceOf(DatabaseException.class)
          .hasMessageContaining("no_more");
    } finally {
      db.sql("ALTER TABLE holdfast.job DROP CONSTRAINT no_more");
    }
  }

  @Test
  void a_deadline_that_has_passed_is_refused_unless_the_job_is_there_already() {
    Job late = job().deadline(Instant.now().minusSeconds(60));
    assertRefused(Refusal.BAD_TIMING, () -> queue.enqueue(late));
    assertRefused(Refusal.BAD_TIMING, () -> queue.enqueue(List.of(job(), late)));
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isZero();
    Job intime = job().deadline(Instant.now().plusSeconds(3_600));
    queue.enqueue(intime);
    Job again = intime.deadline(Instant.now().minusSeconds(60));
    assertThat(queue.enqueue(again).id()).isEqualTo(intime.id());
  }
}
