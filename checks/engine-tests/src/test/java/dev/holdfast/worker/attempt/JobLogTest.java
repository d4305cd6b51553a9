package dev.holdfast.worker.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.ManualNanos;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class JobLogTest {
  private static final Duration GATHER = Duration.ofMillis(100);

  private final ManualNanos nanos = new ManualNanos();
  private final Lease lease = new Lease(JobId.next(), 1);
  private final Deque<Runnable> timers = new ArrayDeque<>();
  private final List<Duration> waits = new ArrayList<>();
  private final List<Report.Log> told = new ArrayList<>();
  private final AtomicInteger lost = new AtomicInteger();
  private CompletableFuture<Ack> answer = CompletableFuture.completedFuture(Ack.ACCEPTED);
  private final JobLog log =
      new JobLog(
          lease,
          Scrubber.knowing(List.of("correct horse"))::scrub,
          report -> {
            told.add((Report.Log) report);
            return answer;
          },
          lost::incrementAndGet,
          wait -> {
            waits.add(wait);
            return timers::add;
          },
          nanos);

  private void passes(Duration time) {
    nanos.advance(time);
    timers.remove().run();
  }

  private String text(int index) {
    return told.get(index).text();
  }

  @Test
  void lines_are_gathered_and_reported_at_most_once_a_second() {
    log.line("one");
    log.line("two");
    assertThat(told).isEmpty();
    assertThat(waits).containsExactly(GATHER);
    passes(GATHER);
    assertThat(text(0)).isEqualTo("one\ntwo\n");
    assertThat(timers).isEmpty();
    nanos.advance(Duration.ofMillis(300));
    log.line("three");
    assertThat(waits.getLast()).isEqualTo(Duration.ofMillis(700));
    passes(Duration.ofMillis(700));
    assertThat(told.get(1)).isEqualTo(new Report.Log(lease, 1, "one\ntwo\nthree\n"));
    nanos.advance(Duration.ofMinutes(1));
    log.line("after a while");
    assertThat(waits.getLast()).isEqualTo(GATHER);
  }

  @Test
  void a_full_piece_is_followed_by_the_next_and_not_reported_again() {
    String line = "x".repeat(1_500);
    List.of(line, line, "third " + line, "fourth").forEach(log::line);
    passes(GATHER);
    assertThat(told).extracting(Report.Log::piece).containsExactly(1, 2);
    log.line("fifth");
    passes(JobLog.INTERVAL);
    assertThat(told).hasSize(3);
    assertThat(told.get(2).piece()).isEqualTo(2);
    assertThat(text(2)).startsWith("third ").endsWith("fourth\nfifth\n");
  }

  @Test
  void a_flood_of_lines_is_bounded_and_its_end_is_reported() {
    for (int i = 0; i < 200_000; i++) {
      log.line("line " + i);
    }
    assertThat(timers).hasSize(1);
    passes(GATHER);
    assertThat(told).hasSize(Limits.LOG_PIECES);
    assertThat(told).allMatch(piece -> piece.text().length() <= Limits.LOG_PIECE_CHARS);
    assertThat(text(Limits.LOG_PIECES - 1)).endsWith("line 199999\n");
  }

  @Test
  void while_nothing_can_be_written_nothing_more_is_reported() {
    answer = new CompletableFuture<>();
    log.line("one");
    passes(GATHER);
    log.line("two");
    assertThat(timers).isEmpty();
    nanos.advance(Duration.ofSeconds(10));
    answer.complete(Ack.ACCEPTED);
    passes(GATHER);
    assertThat(text(1)).isEqualTo("one\ntwo\n");
  }

  @Test
  void a_failed_report_is_ignored_and_a_rejected_one_marks_the_lease_as_lost() {
    answer = CompletableFuture.failedFuture(new Outbox.StoppedException());
    log.line("one");
    passes(GATHER);
    assertThat(lost).hasValue(0);
    answer = CompletableFuture.completedFuture(Ack.LEASE_LOST);
    log.line("two");
    passes(JobLog.INTERVAL);
    assertThat(lost).hasValue(1);
  }

  @Test
  void the_last_lines_are_reported_at_the_end_and_none_after_it() {
    log.line("one");
    log.end(true);
    assertThat(text(0)).isEqualTo("one\n");
    log.line("late");
    passes(GATHER);
    log.end(true);
    assertThat(told).hasSize(1);
    assertThat(timers).isEmpty();
  }

  @Test
  void an_attempt_that_settled_itself_reports_no_more_lines() {
    log.line("one");
    log.end(false);
    passes(GATHER);
    assertThat(told).isEmpty();
  }

  @Test
  void secrets_split_by_colour_codes_are_redacted_and_long_lines_are_cut() {
    log.line("the key is correct \u001b[31mhorse\u001b[0m");
    log.line("password=hunter22");
    log.line("y".repeat(1_000_000));
    log.line("\0\u0007\u202e");
    log.line("c\0o\0r\0r\0e\0c\0t\0 \0h\bh\0o\0r\0s\0e\0 in UTF-16");
    log.end(true);
    String all = String.join("", told.stream().map(Report.Log::text).toList());
    assertThat(all).doesNotContain("horse", "hunter22", "\u001b", "\0", "\u202e");
    assertThat(all.lines()).contains("the key is ***", "password=***", "", "*** in UTF-16");
    assertThat(all.lines().mapToInt(String::length).max()).hasValue(Limits.LOG_LINE_CHARS);
  }
}
