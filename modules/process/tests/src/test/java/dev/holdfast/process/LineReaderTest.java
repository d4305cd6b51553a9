package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
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
}
