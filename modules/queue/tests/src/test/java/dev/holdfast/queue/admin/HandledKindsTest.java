package dev.holdfast.queue.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
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
  void a_kind_is_known_for_as_long_as_a_worker_of_that_queue_says_so() {
    JobId job = running().job();
    assertThat(queue.mayBeKnown(job, AT_ONCE)).isFalse();
    queue.announce(List.of("elsewhere"), List.of("test"));
    queue.announce(List.of(QUEUE), List.of("other"));
    assertThat(queue.mayBeKnown(job, AT_ONCE)).isFalse();
    queue.announce(List.of(QUEUE, "elsewhere"), List.of("other", "test"));
    assertThat(queue.mayBeKnown(job, AT_ONCE)).isTrue();
    heardAgo("3 minutes");
    assertThat(queue.mayBeKnown(job, AT_ONCE)).isFalse();
    queue.announce(List.of(QUEUE), List.of("test"));
    assertThat(queue.mayBeKnown(job, AT_ONCE)).isTrue();
  }

  @Test
  void nobody_may_know_it_for_a_while_after_it_was_first_met() {
    JobId job = running().job();
    assertThat(queue.mayBeKnown(job, HOUR)).isTrue();
    queue.settle(new Settlement.Snooze(new Lease(job, 1), AT_ONCE));
    claimOne();
    db.sql("UPDATE holdfast.attempt SET started_at = started_at - interval '2 hours'");
    assertThat(queue.mayBeKnown(job, HOUR)).isFalse();
    queue.announce(List.of(QUEUE), List.of("test"));
    heardAgo("30 minutes");
    assertThat(queue.mayBeKnown(job, HOUR)).isTrue();
  }

  @Test
  void what_was_said_just_now_is_not_written_again_and_what_is_old_goes() {
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
