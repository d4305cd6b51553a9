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
  void a_repeated_submission_returns_the_same_results_in_the_same_order() {
    List<Enqueued> first = submit("k", "d", 5);
    assertThat(submit("k", "d", 5)).isEqualTo(first);
    assertThat(stored()).isEqualTo(5);
  }

  @Test
  void a_repeated_submission_reports_the_same_duplicates() {
    queue.enqueue(job().uniqueKey("u"));
    List<Enqueued> first = queue.enqueueOnce(TENANT, "k", "d", List.of(job().uniqueKey("u")));
    assertThat(first.getFirst().duplicate()).isTrue();
    assertThat(queue.enqueueOnce(TENANT, "k", "d", List.of(job().uniqueKey("u")))).isEqualTo(first);
  }

  @Test
  void a_different_submission_with_the_same_key_is_refused() {
    submit("k", "d", 1);
    assertRefused(Refusal.KEY_REUSED, () -> submit("k", "other", 1));
    assertThat(stored()).isEqualTo(1);
  }

  @Test
  void submissions_of_another_tenant_or_key_are_separate() {
    submit("k", "d", 1);
    submit("k2", "d", 1);
    queue.enqueueOnce("other", "k", "d", jobs(1));
    assertThat(stored()).isEqualTo(3);
  }

  @Test
  void concurrent_equal_submissions_enqueue_once() {
    JobQueue other = another().jobs();
    List<List<Enqueued>> answers =
        Parallel.run(
            8, i -> () -> (i % 2 == 0 ? queue : other).enqueueOnce(TENANT, "k", "d", jobs(3)));
    assertThat(new HashSet<>(answers)).hasSize(1);
    assertThat(stored()).isEqualTo(3);
  }

  @Test
  void a_refused_submission_does_not_use_its_key() {
    assertRefused(
        Refusal.BAD_DEPENDENCY,
        () ->
            queue.enqueueOnce(
                TENANT, "k", "d", List.of(job().dependsOn(dev.holdfast.model.job.JobId.next()))));
    assertThat(submit("k", "other", 1)).hasSize(1);
  }

  @Test
  void a_key_expires() {
    submit("k", "d", 1);
    assertThat(maintenance.forgetSubmissions(Duration.ofDays(1))).isZero();
    db.sql("UPDATE holdfast.idempotency_key SET submitted_at = now() - interval '2 days'");
    assertThat(maintenance.forgetSubmissions(Duration.ofDays(1))).isEqualTo(1);
    submit("k", "other", 1);
    assertThat(stored()).isEqualTo(2);
  }
}
