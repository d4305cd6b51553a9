package dev.holdfast.queue.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClaimCursorTest {
  private static final long QUICK = Duration.ofMillis(2).toNanos();
  private static final long SLOW = Duration.ofMillis(100).toNanos();

  private final AtomicLong nanos = new AtomicLong();
  private final ClaimCursor cursors = new ClaimCursor(nanos::get);

  private static ClaimedRow taken(int priority, double due) {
    JobId id = JobId.next();
    LeasedJob job =
        new LeasedJob(
            new Lease(id, 1),
            "kind",
            "queue",
            Json.EMPTY,
            "default",
            "default",
            id,
            "key",
            Instant.EPOCH,
            0,
            3,
            Duration.ZERO,
            null,
            null,
            JobAttributes.NONE);
    return new ClaimedRow(job, priority, due);
  }

  /** By a claim that has asked for more. */
  private void claimed(double[] from, List<ClaimedRow> taken, long took) {
    cursors.claimed(from, taken, 500, took);
  }

  /** Claims that have been slow for a while. */
  private void slowly(ClaimedRow... taken) {
    for (int i = 1; i < ClaimCursor.SLOW_CLAIMS; i++) {
      claimed(cursors.next(), List.of(), SLOW);
    }
    claimed(cursors.next(), List.of(taken), SLOW);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void small_quick_claims_begin_at_the_start_of_the_index() {
    double[] from = cursors.next();
    assertThat(from).hasSize(10).containsOnly(ClaimCursor.NONE);
    claimed(from, List.of(taken(5, 1_000)), QUICK);
    assertThat(cursors.next()).containsOnly(ClaimCursor.NONE);
  }

  @Test
  void one_slow_claim_does_not_move_the_cursor() {
    claimed(cursors.next(), List.of(taken(5, 1_000)), SLOW);
    claimed(cursors.next(), List.of(taken(5, 1_001)), SLOW);
    claimed(cursors.next(), List.of(taken(5, 1_002)), QUICK);
    claimed(cursors.next(), List.of(taken(5, 1_003)), SLOW);
    assertThat(cursors.next()).containsOnly(ClaimCursor.NONE);
  }

  @Test
  void after_slow_claims_the_next_begins_at_the_first_claimed_job_of_each_priority() {
    slowly(taken(5, 1_001), taken(5, 1_000), taken(7, 900));
    double[] from = cursors.next();
    assertThat(from[5]).isBetween(999.9, 1_000.0);
    assertThat(from[7]).isBetween(899.9, 900.0);
    assertThat(from[0]).isEqualTo(ClaimCursor.NONE);
    claimed(from, List.of(taken(5, 1_002)), QUICK);
    assertThat(cursors.next()[5]).isBetween(1_001.9, 1_002.0);
  }

  @Test
  void a_claim_that_leaves_a_backlog_moves_the_cursor_unless_it_was_quick() {
    List<ClaimedRow> several =
        IntStream.range(0, ClaimCursor.SEVERAL).mapToObj(i -> taken(5, 1_000 + i)).toList();
    long took = Duration.ofMillis(5).toNanos();
    cursors.claimed(cursors.next(), several, ClaimCursor.SEVERAL, Duration.ofMillis(1).toNanos());
    assertThat(cursors.next()).as("quick").containsOnly(ClaimCursor.NONE);
    cursors.claimed(cursors.next(), several, ClaimCursor.SEVERAL + 1, took);
    assertThat(cursors.next()).as("all there were").containsOnly(ClaimCursor.NONE);
    cursors.claimed(cursors.next(), List.of(taken(5, 1_000)), 1, took);
    assertThat(cursors.next()).as("only one").containsOnly(ClaimCursor.NONE);
    cursors.claimed(cursors.next(), several, ClaimCursor.SEVERAL, took);
    assertThat(cursors.next()[5]).isBetween(999.9, 1_000.0);
    pass(Duration.ofMillis(100));
    assertThat(cursors.next()).as("after twenty times as long").containsOnly(ClaimCursor.NONE);
  }

  @Test
  void a_large_claim_moves_the_cursor_too_until_the_next_full_scan() {
    List<ClaimedRow> many =
        IntStream.range(0, ClaimCursor.LARGE).mapToObj(i -> taken(5, 1_000 + i)).toList();
    double[] start = cursors.next();
    claimed(start, many, QUICK);
    double[] from = cursors.next();
    assertThat(from[5]).isBetween(999.9, 1_000.0);
    assertThat(from[4]).isEqualTo(ClaimCursor.NONE);
    // What another claim found that had begun at the start meanwhile does not bring it back.
    claimed(start, List.of(taken(5, 10), taken(5, 1_200)), QUICK);
    assertThat(cursors.next()[5]).isBetween(999.9, 1_000.0);
    pass(Duration.ofNanos(20 * QUICK));
    assertThat(cursors.next()).containsOnly(ClaimCursor.NONE);
  }

  @Test
  void the_cursor_returns_to_the_start_after_a_while() {
    slowly(taken(5, 1_000));
    pass(Duration.ofMillis(1_900));
    assertThat(cursors.next()[5]).isNotEqualTo(ClaimCursor.NONE);
    pass(Duration.ofMillis(200));
    assertThat(cursors.next()).containsOnly(ClaimCursor.NONE);
  }

  @Test
  void an_empty_claim_is_repeated_from_the_start_at_intervals() {
    slowly(taken(5, 1_000));
    double[] from = cursors.next();
    claimed(from, List.of(), QUICK);
    assertThat(cursors.shouldScanFully(from)).isFalse();
    assertThat(cursors.nextFullScan(from)).isEqualTo(Duration.ofNanos(2 * SLOW));
    pass(Duration.ofMillis(250));
    assertThat(cursors.shouldScanFully(from)).isTrue();
    double[] start = cursors.next();
    assertThat(start).containsOnly(ClaimCursor.NONE);
    assertThat(cursors.shouldScanFully(start)).isFalse();
    assertThat(cursors.nextFullScan(start)).isNull();
  }

  @Test
  void a_quick_full_scan_resets_the_cursor() {
    slowly(taken(5, 1_000));
    pass(Duration.ofSeconds(10));
    claimed(cursors.next(), List.of(taken(5, 1_010)), QUICK);
    assertThat(cursors.next()).containsOnly(ClaimCursor.NONE);
  }
}
