package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LineReaderTest {
  private static final Runnable NOT_EXITING = () -> {};

  private final List<String> lines = Collections.synchronizedList(new ArrayList<>());

  private List<String> read(String text, int most) {
    return read(text.getBytes(StandardCharsets.UTF_8), most);
  }

  private List<String> read(byte[] bytes, int most) {
    LineReader.start(
            "test",
            new ByteArrayInputStream(bytes),
            most,
            (line, cut) -> lines.add(cut == 0 ? line : line + "+" + cut),
            NOT_EXITING)
        .finish(Duration.ofSeconds(10));
    return lines;
  }

  @ParameterizedTest
  @CsvSource(
      value = {"a|b:a,b", "a^b^:a,b", "a^|b:a,b", "a||b:a,,b", "^|a:,a", "a^^b:a,,b", "a|^b:a,,b"},
      delimiter = ':')
  void a_line_ends_with_cr_lf_or_both(String text, String expected) {
    assertThat(read(text.replace('|', '\n').replace('^', '\r'), 100))
        .containsExactly(expected.split(",", -1));
  }

  @Test
  void empty_input_has_no_lines() {
    assertThat(read("", 100)).isEmpty();
  }

  @Test
  void a_long_line_is_cut_and_the_next_one_is_whole() {
    assertThat(read("abcdefgh\nxy\n", 5)).containsExactly("abcde+3", "xy");
  }

  @Test
  void invalid_utf_8_becomes_the_replacement_character() {
    assertThat(read(new byte[] {'a', (byte) 0xff, 'b', '\n'}, 100)).containsExactly("a\uFFFDb");
  }

  @Test
  void a_listener_that_throws_gets_the_next_line() {
    List<String> heard = Collections.synchronizedList(new ArrayList<>());
    LineReader.start(
            "test",
            new ByteArrayInputStream("a\nb\n".getBytes(StandardCharsets.UTF_8)),
            10,
            (line, cut) -> {
              heard.add(line);
              throw new IllegalStateException("not now");
            },
            NOT_EXITING)
        .finish(Duration.ofSeconds(10));
    assertThat(heard).containsExactly("a", "b");
  }

  /** While the JDK moves what is left in a pipe aside, the pipe is empty or closed. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void output_just_before_the_exit_is_not_lost(boolean closed) {
    AtomicBoolean movedAside = new AtomicBoolean();
    InputStream rest =
        new ByteArrayInputStream("a\nthe last word\n".getBytes(StandardCharsets.UTF_8));
    InputStream pipe =
        new FilterInputStream(rest) {
          private boolean first = true;

          @Override
          public int read(byte[] bytes, int from, int length) throws IOException {
            if (first) {
              first = false;
              return super.read(bytes, from, 2);
            }
            if (movedAside.get()) {
              return super.read(bytes, from, length);
            }
            if (closed) {
              throw new IOException("Stream Closed");
            }
            return -1;
          }
        };
    LineReader.start("test", pipe, 100, (line, cut) -> lines.add(line), () -> movedAside.set(true))
        .finish(Duration.ofSeconds(10));
    assertThat(lines).containsExactly("a", "the last word");
  }

  @Test
  void reading_ends_when_a_stream_is_held_open_without_output() throws IOException {
    try (PipedOutputStream held = new PipedOutputStream();
        PipedInputStream silent = new PipedInputStream(held)) {
      held.write("a\n".getBytes(StandardCharsets.UTF_8));
      LineReader.start("test", silent, 10, (line, cut) -> lines.add(line), NOT_EXITING)
          .finish(Duration.ofSeconds(2));
      assertThat(lines).containsExactly("a");
    }
  }
}
