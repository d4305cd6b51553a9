package dev.holdfast.queue.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LogTest extends QueueFixture {
  private Ack write(Lease lease, int piece, String text) {
    return queue.report(List.of(new Report.Log(lease, piece, text))).getFirst();
  }

  private List<LogTail.Part> all(Lease lease) {
    return queries.log(lease.job(), LogCursor.START).parts();
  }

  private static LogTail.Part part(int attempt, String text) {
    return new LogTail.Part(attempt, text);
  }

  private long pieces() {
    return db.count("SELECT count(*) FROM holdfast.log");
  }

  @Test
  void log_output_can_be_read_while_it_grows_and_after_the_end() {
    Lease lease = running();
    assertThat(all(lease)).isEmpty();
    assertThat(write(lease, 1, "one\n")).isEqualTo(Ack.ACCEPTED);
    LogTail first = queries.log(lease.job(), LogCursor.START);
    assertThat(first.parts()).containsExactly(part(1, "one\n"));
    write(lease, 1, "one\ntwo ü 😀\n");
    write(lease, 2, "three\n");
    LogTail more = queries.log(lease.job(), first.next());
    assertThat(more.parts()).containsExactly(part(1, "two ü 😀\nthree\n"));
    queue.settle(succeed(lease));
    assertThat(all(lease)).containsExactly(part(1, "one\ntwo ü 😀\nthree\n"));
    assertThat(queries.log(lease.job(), more.next()).parts()).isEmpty();
  }

  @Test
  void a_repeated_or_late_piece_changes_nothing() {
    Lease lease = running();
    write(lease, 1, "one\ntwo\n");
    assertThat(write(lease, 1, "one\ntwo\n")).isEqualTo(Ack.ACCEPTED);
    assertThat(write(lease, 1, "one\n")).isEqualTo(Ack.ACCEPTED);
    assertThat(
            queue.report(
                List.of(
                    new Report.Log(lease, 2, "a\n"),
                    new Report.Log(lease, 2, "a\nb\n"),
                    new Report.Log(lease, 2, "a\n"))))
        .containsOnly(Ack.ACCEPTED);
    assertThat(all(lease)).containsExactly(part(1, "one\ntwo\na\nb\n"));
  }

  private Ack lines(Lease lease, @Nullable Long first, String... lines) {
    return queue.log(
        new LogLines(
            lease,
            first,
            List.of(lines),
            (before, added) ->
                added.replace("secret", before.endsWith("two\n") ? "***" : "not after two")));
  }

  @Test
  void lines_are_appended_and_repeated_ones_are_skipped() {
    Lease lease = running();
    assertThat(lines(lease, 1L, "one", "two")).isEqualTo(Ack.ACCEPTED);
    assertThat(lines(lease, 1L, "one", "two")).isEqualTo(Ack.ACCEPTED);
    lines(lease, 2L, "two", "the secret");
    lines(lease, 1L, "one");
    assertThat(all(lease)).containsExactly(part(1, "one\ntwo\nthe ***\n"));
    lines(lease, 10L, "some were lost");
    lines(lease, 4L, "of these", "nobody knows");
    lines(lease, null, "uncounted");
    lines(lease, null, "uncounted");
    lines(lease, 13L, "the thirteenth");
    assertThat(all(lease))
        .containsExactly(
            part(1, "one\ntwo\nthe ***\nsome were lost\nuncounted\nuncounted\nthe thirteenth\n"));
  }

  @Test
  void lines_are_stored_in_pieces_and_the_last_pieces_are_kept() {
    Lease lease = running();
    String line = "x".repeat(3 * Limits.LOG_LINE_CHARS);
    for (int i = 0; i < 3; i++) {
      lines(lease, null, Collections.nCopies(20, line).toArray(String[]::new));
    }
    lines(lease, null, "the last one");
    assertThat(pieces()).isEqualTo(Limits.LOG_PIECES);
    String kept = all(lease).getFirst().text();
    assertThat(kept).hasSizeLessThanOrEqualTo(Limits.LOG_PIECES * Limits.LOG_PIECE_CHARS);
    assertThat(kept).endsWith("x…\nthe last one\n");
    assertThat(kept.lines()).allMatch(each -> each.length() <= Limits.LOG_LINE_CHARS);
    lines(lease, 61L, "the last one");
    assertThat(all(lease).getFirst().text()).isEqualTo(kept);
  }

  @Test
  void lines_sent_concurrently_are_all_stored_once() {
    Lease lease = running();
    Parallel.run(8, n -> () -> lines(lease, null, "line " + n));
    assertThat(all(lease).getFirst().text().lines())
        .containsExactlyInAnyOrder(
            IntStream.range(0, 8).mapToObj(n -> "line " + n).toArray(String[]::new));
  }

  @Test
  void lines_of_an_attempt_without_the_lease_are_rejected() {
    Lease stale = running();
    lines(stale, 1L, "first");
    expire(stale);
    maintenance.reap(Duration.ZERO);
    assertThat(lines(stale, 2L, "late")).isEqualTo(Ack.LEASE_LOST);
    Lease now = claimOne();
    assertThat(lines(stale, 2L, "later")).isEqualTo(Ack.LEASE_LOST);
    assertThat(lines(now, 1L, "second")).isEqualTo(Ack.ACCEPTED);
    queue.settle(succeed(now));
    assertThat(lines(now, 2L, "after the end")).isEqualTo(Ack.LEASE_LOST);
    assertThat(all(now)).containsExactly(part(1, "first\n"), part(2, "second\n"));
  }

  @Test
  void only_the_attempt_with_the_lease_can_write() {
    Lease stale = running();
    write(stale, 1, "first\n");
    expire(stale);
    maintenance.reap(Duration.ZERO);
    assertThat(write(stale, 1, "first\nlate\n")).isEqualTo(Ack.LEASE_LOST);
    Lease now = claimOne();
    assertThat(write(stale, 2, "later\n")).isEqualTo(Ack.LEASE_LOST);
    assertThat(write(now, 1, "second\n")).isEqualTo(Ack.ACCEPTED);
    queue.settle(succeed(now));
    assertThat(write(now, 2, "after the end\n")).isEqualTo(Ack.LEASE_LOST);
    assertThat(all(now)).containsExactly(part(1, "first\n"), part(2, "second\n"));
  }

  @Test
  void only_the_last_pieces_are_kept_over_all_attempts() {
    Lease first = running();
    String full = "x".repeat(Limits.LOG_PIECE_CHARS - 1) + "\n";
    for (int piece = 1; piece <= Limits.LOG_PIECES + 3; piece++) {
      write(first, piece, full);
    }
    assertThat(pieces()).isEqualTo(Limits.LOG_PIECES);
    assertThat(queries.log(first.job(), LogCursor.START).skipped()).isTrue();
    queue.settle(fail(first, FLAKY));
    set(first.job(), "run_at = now(), state = 'PENDING'");
    Lease second = claimOne();
    List<Report> burst = new ArrayList<>();
    for (int piece = 1; piece <= Limits.LOG_PIECES + 5; piece++) {
      burst.add(new Report.Log(second, piece, piece + "\n"));
    }
    queue.report(burst.subList(0, 2));
    assertThat(pieces()).isEqualTo(Limits.LOG_PIECES);
    assertThat(all(second)).extracting(LogTail.Part::attempt).containsExactly(1, 2);
    queue.report(burst);
    assertThat(pieces()).isEqualTo(Limits.LOG_PIECES);
    assertThat(all(second)).hasSize(1);
    assertThat(all(second).getFirst().text()).startsWith("6\n").endsWith("21\n");
  }

  @Test
  void it_is_deleted_with_its_job_and_others_are_kept() {
    Lease old = running();
    Lease young = running();
    write(old, 1, "old\n");
    write(young, 1, "young\n");
    queue.settle(succeed(old));
    set(old.job(), "finished_at = finished_at - interval '25 hours'");
    assertThat(maintenance.retain(JobState.SUCCEEDED, Duration.ofDays(1))).isEqualTo(1);
    assertThat(pieces()).isEqualTo(1);
    assertThat(all(young)).hasSize(1);
  }

  @Test
  void a_write_does_not_wait_for_a_transaction_that_locks_the_job() throws Exception {
    Lease lease = running();
    try (Connection handler = db.connection()) {
      handler.setAutoCommit(false);
      queue.succeed(handler, succeed(lease));
      assertThat(write(lease, 1, "while it settles\n")).isEqualTo(Ack.ACCEPTED);
      handler.commit();
    }
    assertThat(all(lease)).hasSize(1);
  }

  @Test
  void the_end_position_of_a_log_changes_when_it_grows() {
    Lease one = running();
    Lease quiet = running();
    write(one, 1, "a\n");
    var before = queries.logEnds(List.of(one.job(), quiet.job()));
    assertThat(before).containsOnlyKeys(one.job());
    assertThat(queries.logEnds(List.of(one.job()))).isEqualTo(before);
    write(one, 1, "a\nb\n");
    assertThat(queries.logEnds(List.of(one.job()))).isNotEqualTo(before);
    assertThat(queries.logEnds(List.of())).isEmpty();
  }
}
