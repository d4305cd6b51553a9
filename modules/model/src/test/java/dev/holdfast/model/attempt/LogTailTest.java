package dev.holdfast.model.attempt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogTailTest {
  private static LogPiece piece(int attempt, int piece, String text) {
    return new LogPiece(attempt, piece, text);
  }

  private static LogTail after(String cursor, LogPiece... pieces) {
    return LogTail.after(LogCursor.parse(cursor), List.of(pieces));
  }

  @Test
  void a_reader_gets_unread_output_and_the_cursor_to_continue_from() {
    LogTail all =
        LogTail.after(
            LogCursor.START, List.of(piece(1, 1, "a\n"), piece(1, 2, "b\n"), piece(2, 1, "c\n")));
    assertThat(all.parts())
        .containsExactly(new LogTail.Part(1, "a\nb\n"), new LogTail.Part(2, "c\n"));
    assertThat(all.next()).hasToString("2.1.2");
    assertThat(all.skipped()).isFalse();
    LogTail more = after("2.1.2", piece(2, 1, "c\nd\n"), piece(2, 2, "e\n"));
    assertThat(more)
        .isEqualTo(
            new LogTail(List.of(new LogTail.Part(2, "d\ne\n")), new LogCursor(2, 2, 2), false));
  }

  @Test
  void without_new_pieces_the_cursor_stays() {
    assertThat(LogTail.after(LogCursor.START, List.of()).next()).isEqualTo(LogCursor.START);
    assertThat(after("2.1.2", piece(2, 1, "c\n")))
        .isEqualTo(new LogTail(List.of(), new LogCursor(2, 1, 2), false));
  }

  @Test
  void deleted_pieces_are_reported_as_skipped() {
    assertThat(LogTail.after(LogCursor.START, List.of(piece(1, 7, "g\n"))).skipped()).isTrue();
    assertThat(after("1.3.10", piece(1, 5, "e\n"), piece(1, 6, "f\n")).skipped()).isTrue();
    assertThat(after("1.3.10", piece(1, 3, "c\n"), piece(2, 1, "d\n")).skipped()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "1.2", "1.2.3.4", "-1.2.3", "1.2.x", "1.2.9999999999"})
  void an_invalid_cursor_is_refused(String text) {
    assertThatThrownBy(() -> LogCursor.parse(text)).isInstanceOf(RefusedException.class);
  }

  @Test
  void a_piece_has_limits_and_no_control_sequences() {
    Lease lease = new Lease(JobId.next(), 1);
    assertThat(new Report.Log(lease, 1, "\u001b[31mred\0\n").text()).isEqualTo("red·\n");
    assertThatThrownBy(() -> new Report.Log(lease, 0, "x")).isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> new Report.Log(lease, 1, "")).isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> new Report.Log(lease, 1, "x".repeat(Limits.LOG_PIECE_CHARS + 1)))
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void a_piece_read_to_its_end_is_followed_by_the_next_without_a_gap() {
    assertThat(after("1.1.4", piece(1, 1, "a\nb\n"), piece(1, 2, "c\n")))
        .isEqualTo(new LogTail(List.of(new LogTail.Part(1, "c\n")), new LogCursor(1, 2, 2), false));
  }
}
