package dev.holdfast.queue.enqueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class EnqueueIdempotentTest extends QueueFixture {
  private static final String TENANT = "acme";

  private List<Enqueued> submit(String key, String digest, int count) {
    return queue.enqueueOnce(TENANT, key, digest, jobs(count));
  }

  private long stored() {
    return db.count("SELECT count(*) FROM holdfast.job");
  }

  @Test
  void the_same_again_is_answered_as_before_in_the_same_order() {
    List<Enqueued> first = submit("k", "d", 5);
    assertThat(submit("k", "d", 5)).isEqualTo(first);
    assertThat(stored()).isEqualTo(5);
  }

  @Test
  void what_was_a_duplicate_then_is_one_still() {
    queue.enqueue(job().uniqueKey("u"));
    List<Enqueued> first = queue.enqueueOnce(TENANT, "k", "d", List.of(job().uniqueKey("u")));
    assertThat(first.getFirst().duplicate()).isTrue();
    assertThat(queue.enqueueOnce(TENANT, "k", "d", List.of(job().uniqueKey("u")))).isEqualTo(first);
  }

  @Test
  void another_submission_under_the_key_is_refused() {
    submit("k", "d", 1);
    assertRefused(Refusal.KEY_REUSED, () -> submit("k", "other", 1));
    assertThat(stored()).isEqualTo(1);
  }

  @Test
  void another_tenant_or_another_key_is_another_submission() {
    submit("k", "d", 1);
    submit("k2", "d", 1);
    queue.enqueueOnce("other", "k", "d", jobs(1));
    assertThat(stored()).isEqualTo(3);
  }

  @Test
  void many_at_the_same_moment_make_one() {
    JobQueue other = another().jobs();
    List<List<Enqueued>> answers =
        Parallel.run(
            8, i -> () -> (i % 2 == 0 ? queue : other).enqueueOnce(TENANT, "k", "d", jobs(3)));
    assertThat(new HashSet<>(answers)).hasSize(1);
    assertThat(stored()).isEqualTo(3);
  }

  @Test
  void a_submission_that_is_refused_does_not_use_up_its_key() {
    assertRefused(
        Refusal.BAD_DEPENDENCY,
        () ->
            queue.enqueueOnce(
                TENANT, "k", "d", List.of(job().dependsOn(dev.holdfast.model.job.JobId.next()))));
    assertThat(submit("k", "other", 1)).hasSize(1);
  }

  @Test
  void after_a_while_a_key_is_forgotten() {
    submit("k", "d", 1);
    assertThat(maintenance.forgetSubmissions(Duration.ofDays(1))).isZero();
    db.sql("UPDATE holdfast.idempotency_key SET submitted_at = now() - interval '2 days'");
    assertThat(maintenance.forgetSubmissions(Duration.ofDays(1))).isEqualTo(1);
    submit("k", "other", 1);
    assertThat(stored()).isEqualTo(2);
  }
}
