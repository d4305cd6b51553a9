package dev.holdfast.queue.enqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.model.attempt.ClaimRequest;
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
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.QueueFixture;
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
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an enqueue stores, and in which transaction. */
class EnqueueTest extends QueueFixture {
  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  @Test
  void the_attributes_of_a_job_are_in_the_claim_and_can_be_read() {
    Job job =
        job()
            .assetId("table \"orders\"")
            .partitionKey("2026-11-17")
            .resources(new Json("{\"cpu\": 1.50}"))
            .traceparent(TRACE);
    JobAttributes brought =
        new JobAttributes(
            "table \"orders\"", "2026-11-17", new Json("{\"cpu\":1.50}"), TRACE, List.of());
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
  void max_attempts_default_to_those_of_the_kind_or_queue() throws Exception {
    RetryDefaults defaults =
        new RetryDefaults(
            new Retries(4, null),
            Map.of("mail", new Retries(6, null)),
            Map.of("slow", new Retries(5, null)));
    try (JobStore own =
            new JobStore(
                db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.retries(defaults));
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
    assertThat(queue.claim(new ClaimRequest("mail", 1, WORKER, LEASE)).jobs().getFirst().timeout())
        .isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void an_unknown_id_has_no_job_events_or_attempts() {
    assertThat(queries.find(JobId.next())).isEmpty();
    assertThat(queries.timeline(JobId.next())).isEmpty();
    assertThat(queries.attempts(JobId.next())).isEmpty();
  }

  @Test
  void a_batch_enqueue_returns_its_results_in_order() {
    List<Job> jobs = new ArrayList<>(jobs(1_000));
    Collections.shuffle(jobs, new Random(7));
    assertThat(queue.enqueue(jobs))
        .isEqualTo(jobs.stream().map(job -> new Enqueued(job.id(), false)).toList());
    assertThat(count(JobState.PENDING)).isEqualTo(1_000);
  }

  @Test
  void a_job_enqueued_in_the_callers_transaction_is_visible_after_the_commit() throws SQLException {
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
  void a_job_enqueued_in_the_callers_transaction_is_rolled_back_with_it() throws SQLException {
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      queue.enqueue(connection, List.of(job(), job().uniqueKey("k")));
      connection.rollback();
    }
    assertThat(count(JobState.PENDING)).isZero();
    assertThat(queue.enqueue(job().uniqueKey("k")).duplicate()).isFalse();
  }

  @Test
  void created_at_is_the_time_of_the_enqueue_not_of_the_transaction_start() throws SQLException {
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
  void a_delayed_job_is_due_when_its_delay_is_over() {
    JobId later = add(job().delay(Duration.ofHours(1)));
    assertThat(Duration.between(status(later).createdAt(), status(later).runAt()))
        .isEqualTo(Duration.ofHours(1));
    assertThat(claim(1)).isEmpty();
    comeDue(later);
    assertThat(claimOne().job()).isEqualTo(later);
  }

  @Test
  void a_job_may_have_a_due_time() {
    Instant moment = Instant.parse("2099-01-01T00:00:00.123456Z");
    assertThat(status(add(job().runAt(moment))).runAt()).isEqualTo(moment);
    assertThat(claim(1)).isEmpty();
    JobId past = add(job().runAt(Instant.parse("2001-01-01T00:00:00Z")));
    assertThat(claimOne().job()).isEqualTo(past);
  }

  @Test
  void jobs_are_claimed_by_priority_and_then_in_enqueue_order() {
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
  void ids_sort_the_same_in_java_and_in_postgresql() {
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
}
