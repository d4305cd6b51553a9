package dev.holdfast.queue.enqueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A job that is enqueued twice, under its id. */
class EnqueueAgainTest extends QueueFixture {
  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  @Test
  void a_repeated_enqueue_may_differ_in_its_trace_but_not_in_its_asset() {
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
  void a_different_job_with_the_same_id_is_refused_and_nothing_is_written(
      UnaryOperator<Job> changed) throws SQLException {
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
  void a_repeated_enqueue_is_recognised_after_the_job_has_changed() {
    Job job =
        Job.of("test", new Json("{\"price\": 1.10, \"n\": 1}"))
            .delay(Duration.ofMillis(1))
            .deadline(Instant.now().plusSeconds(3_600))
            .concurrencyKey("k", 1)
            .uniqueKey("u");
    Lease lease = addAndClaim(job);
    queue.settle(fail(lease, HOPELESS));
    queue.retry(List.of(job.id()), Tenant.ANY);
    set(job.id(), "deadline = NULL, concurrency_key = 'crashed:w', run_at = now()");
    Job again = Job.of("test", new Json("{\"n\":1,\"price\":1.1}")).id(job.id()).uniqueKey("u");
    assertThat(queue.enqueue(again)).isEqualTo(new Enqueued(job.id(), false));
  }

  @Test
  void a_job_that_has_ended_is_not_enqueued_again() {
    Job job = job();
    queue.settle(succeed(addAndClaim(job)));
    assertThat(queue.enqueue(job)).isEqualTo(new Enqueued(job.id(), false));
    assertThat(state(job.id())).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void concurrent_enqueues_of_one_job_make_one_job() {
    Job job = job();
    assertThat(Parallel.run(8, i -> () -> queue.enqueue(job)))
        .containsOnly(new Enqueued(job.id(), false));
    assertThat(count(JobState.PENDING)).isEqualTo(1);
  }

  @Test
  void one_id_twice_in_one_enqueue_is_refused() {
    Job job = job();
    assertRefused(Refusal.BAD_ID, () -> queue.enqueue(List.of(job, job)));
    assertThat(count(JobState.PENDING)).isZero();
  }

  @Test
  void a_past_deadline_is_refused_unless_the_job_exists_already() {
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
