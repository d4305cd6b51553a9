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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LineReaderTest {
  private final List<String> lines = Collections.synchronizedList(new ArrayList<>());

  private List<String> read(String text, int most) {
    return read(text.getBytes(StandardCharsets.UTF_8), most);
  }

  private List<String> read(byte[] bytes, int most) {
    LineReader.start(
            "test",
            new ByteArrayInputStream(bytes),
            most,
            (line, cut) -> lines.add(cut == 0 ? line : line + "+" + cut))
        .finish(Duration.ofSeconds(10));
    return lines;
  }

  @ParameterizedTest
  @CsvSource(
      value = {"a|b:a,b", "a^b^:a,b", "a^|b:a,b", "a||b:a,,b", "^|a:,a", "a^^b:a,,b", "a|^b:a,,b"},
      delimiter = ':')
  void a_line_ends_with_either_sign_or_both(String text, String expected) {
    assertThat(read(text.replace('|', '\n').replace('^', '\r'), 100))
        .containsExactly(expected.split(",", -1));
  }

  @Test
  void nothing_is_no_line() {
    assertThat(read("", 100)).isEmpty();
  }

  @Test
  void a_long_line_is_cut_and_the_next_one_is_whole() {
    assertThat(read("abcdefgh\nxy\n", 5)).containsExactly("abcde+3", "xy");
  }

  @Test
  void what_is_no_text_is_still_told() {
    assertThat(read(new byte[] {'a', (byte) 0xff, 'b', '\n'}, 100)).containsExactly("a\uFFFDb");
  }

  @Test
  void a_listener_that_throws_hears_the_next_line_all_the_same() {
    List<String> heard = Collections.synchronizedList(new ArrayList<>());
    LineReader.start(
            "test",
            new ByteArrayInputStream("a\nb\n".getBytes(StandardCharsets.UTF_8)),
            10,
            (line, cut) -> {
              heard.add(line);
              throw new IllegalStateException("not now");
            })
        .finish(Duration.ofSeconds(10));
    assertThat(heard).containsExactly("a", "b");
  }

  /** As a pipe does whose program exits between two reads. */
  @Test
  void a_read_that_fails_once_loses_nothing() {
    InputStream rest = new ByteArrayInputStream("a\nb\n".getBytes(StandardCharsets.UTF_8));
    InputStream failingOnce =
        new FilterInputStream(rest) {
          private boolean failed;

          @Override
          public int read(byte[] bytes, int from, int length) throws IOException {
            if (!failed) {
              failed = true;
              throw new IOException("Stream Closed");
            }
            return super.read(bytes, from, length);
          }
        };
    LineReader.start("test", failingOnce, 10, (line, cut) -> lines.add(line))
        .finish(Duration.ofSeconds(10));
    assertThat(lines).containsExactly("a", "b");
  }

  @Test
  void a_stream_that_is_held_open_in_silence_is_given_up() throws IOException {
    try (PipedOutputStream held = new PipedOutputStream();
        PipedInputStream silent = new PipedInputStream(held)) {
      held.write("a\n".getBytes(StandardCharsets.UTF_8));
      LineReader.start("test", silent, 10, (line, cut) -> lines.add(line))
          .finish(Duration.ofSeconds(2));
      assertThat(lines).containsExactly("a");
    }
  }
}
