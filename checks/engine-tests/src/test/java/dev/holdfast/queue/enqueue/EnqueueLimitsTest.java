package dev.holdfast.queue.enqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Payloads and batches that are refused. */
class EnqueueLimitsTest extends QueueFixture {
  @Test
  void resources_that_are_not_a_storable_object_are_refused() {
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
  void a_payload_nested_too_deep_is_refused() {
    Job deep = Job.of("test", new Json("[".repeat(100_000) + "]".repeat(100_000)));
    assertRefused(Refusal.PAYLOAD_NOT_JSON, () -> queue.enqueue(deep));
    assertThat(count(JobState.PENDING)).isZero();
  }

  @Test
  void a_payload_the_codec_cannot_write_is_refused() {
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
  void ten_thousand_jobs_are_accepted_in_one_enqueue_and_one_more_is_refused() {
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
  void a_constraint_violation_is_thrown_to_the_caller() {
    db.sql("ALTER TABLE holdfast.job ADD CONSTRAINT no_more CHECK (kind <> 'test')");
    try {
      assertThatThrownBy(() -> queue.enqueue(job()))
          .isInstanceOf(DatabaseException.class)
          .hasMessageContaining("no_more");
    } finally {
      db.sql("ALTER TABLE holdfast.job DROP CONSTRAINT no_more");
    }
  }
}
