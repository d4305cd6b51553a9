package dev.holdfast.queue.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.UnhandledKind;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HandledKindsTest extends QueueFixture {
  private static final Duration AT_ONCE = Duration.ZERO;
  private static final Duration HOUR = Duration.ofHours(1);

  @BeforeEach
  void clear() {
    db.sql("TRUNCATE holdfast.handled_kind");
  }

  private void heardAgo(String interval) {
    db.sql("UPDATE holdfast.handled_kind SET seen_at = now() - interval '" + interval + "'");
  }

  @Test
  void a_kind_is_handled_while_a_worker_of_its_queue_announces_it() {
    JobId job = running().job();
    assertThat(queue.mayHaveHandler(job, AT_ONCE)).isFalse();
    queue.announce(List.of("elsewhere"), List.of("test"));
    queue.announce(List.of(QUEUE), List.of("other"));
    assertThat(queue.mayHaveHandler(job, AT_ONCE)).isFalse();
    queue.announce(List.of(QUEUE, "elsewhere"), List.of("other", "test"));
    assertThat(queue.mayHaveHandler(job, AT_ONCE)).isTrue();
    heardAgo("3 minutes");
    assertThat(queue.mayHaveHandler(job, AT_ONCE)).isFalse();
    queue.announce(List.of(QUEUE), List.of("test"));
    assertThat(queue.mayHaveHandler(job, AT_ONCE)).isTrue();
  }

  @Test
  void an_unannounced_kind_may_be_handled_within_the_wait_after_its_first_attempt() {
    JobId job = running().job();
    assertThat(queue.mayHaveHandler(job, HOUR)).isTrue();
    queue.settle(new Settlement.Snooze(new Lease(job, 1), AT_ONCE));
    claimOne();
    db.sql("UPDATE holdfast.attempt SET started_at = started_at - interval '2 hours'");
    assertThat(queue.mayHaveHandler(job, HOUR)).isFalse();
    queue.announce(List.of(QUEUE), List.of("test"));
    heardAgo("30 minutes");
    assertThat(queue.mayHaveHandler(job, HOUR)).isTrue();
  }

  private List<UnhandledKind> unhandled() {
    return queries.warnings(Tenant.ANY, Duration.ZERO).unhandled();
  }

  @Test
  void jobs_that_a_worker_skipped_are_counted_until_a_live_worker_handles_their_kind() {
    queue.announce(List.of(QUEUE), List.of("other"));
    JobId job = add(job());
    assertThat(unhandled()).as("no worker has met it").isEmpty();
    Lease lease = claimOne();
    assertThat(unhandled()).as("it runs").isEmpty();
    queue.settle(new Settlement.Snooze(lease, HOUR));
    assertThat(unhandled()).containsExactly(new UnhandledKind(QUEUE, "test", 1));
    assertThat(queries.warnings(Tenant.of("another"), Duration.ZERO).unhandled()).isEmpty();
    queue.announce(List.of(QUEUE), List.of("test"));
    assertThat(unhandled()).isEmpty();
    heardAgo("3 minutes");
    assertThat(unhandled()).as("no worker of the queue reports").isEmpty();
    queue.announce(List.of(QUEUE), List.of("other"));
    assertThat(unhandled()).hasSize(1);
    queue.cancel(List.of(job), false, "no need", Tenant.ANY);
    assertThat(unhandled()).isEmpty();
  }

  @Test
  void a_recent_announcement_is_not_rewritten_and_old_ones_are_deleted() {
    queue.announce(List.of(QUEUE), List.of("old"));
    heardAgo("31 days");
    queue.announce(List.of(QUEUE), List.of("test"));
    assertThat(db.count("SELECT count(*) FROM holdfast.handled_kind")).isEqualTo(1);
    String before = db.queryOne(String.class, "SELECT ctid::text FROM holdfast.handled_kind");
    queue.announce(List.of(QUEUE), List.of("test"));
    assertThat(db.queryOne(String.class, "SELECT ctid::text FROM holdfast.handled_kind"))
        .isEqualTo(before);
  }
}
