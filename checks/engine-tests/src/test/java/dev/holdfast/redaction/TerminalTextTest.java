package dev.holdfast.redaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TerminalTextTest {
  private static String shown(String drawn, int piece) {
    StringBuilder shown = new StringBuilder();
    TerminalText terminal = new TerminalText(shown::append);
    for (int from = 0; from < drawn.length(); from += piece) {
      terminal.write(drawn.substring(from, Math.min(drawn.length(), from + piece)));
    }
    terminal.end();
    return shown.toString();
  }

  static Stream<Arguments> drawn() {
    return Stream.of(
        Arguments.of("plain\ntext\twith ümläuts 😀\n", "plain\ntext\twith ümläuts 😀\n"),
        Arguments.of("\u001b[1;31mred\u001b[0m", "red"),
        Arguments.of("\u001b]0;title\u0007text", "text"),
        Arguments.of("\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"),
        Arguments.of("\u001b]never ends\nnext", "\nnext"),
        Arguments.of("\u001b(Btext\u001b=", "text"),
        Arguments.of("one\r\ntwo\r\n", "one\ntwo\n"),
        Arguments.of("10%\r20%\rdone", "done"),
        Arguments.of("done\r", "done"),
        Arguments.of("much longer\rshort", "short"),
        Arguments.of("b\bbo\bol\bld\bd", "bold"),
        Arguments.of("___\b\b\babc", "abc"),
        Arguments.of("abc\b", "abc"),
        Arguments.of("\b\b\bx", "x"),
        Arguments.of("😀\bx", "x"),
        Arguments.of("spin\u001b[1Gdone", "done"),
        Arguments.of("spins\u001b[3Gare", "spare"),
        Arguments.of("spin\r\u001b[3Gcy", "spcy"),
        Arguments.of("one\u001b[6`two", "one  two"),
        Arguments.of("ab\u001b[scd\u001b[uef", "abef"),
        Arguments.of("ab\u001b7cd\u001b8ef", "abef"),
        Arguments.of("ab\u001b7\ncd\u001b8ef", "ab\ncdef"),
        Arguments.of("two\u001b[1Cwords", "two words"),
        Arguments.of("wrong\u001b[5Dright", "right"),
        Arguments.of("gone\u001b[2K\rhere", "here"),
        Arguments.of("a\0b\u0007c\u007fd\u0085e", "abcde"),
        Arguments.of("a\u200bb\u00adc\u202ed\ufeffe\u200df", "abcdef"),
        Arguments.of("a\u17b4b\u17b5c\u3164d\u2065e", "abcde"),
        Arguments.of("a\u034fb\ufe0fc\u2028d\udb40\udc41e", "abcde"),
        Arguments.of("❤️ 🏴\udb40\udc67\udb40\udc62", "❤️ 🏴\udb40\udc67\udb40\udc62"),
        Arguments.of("👩‍👧", "👩‍👧"));
  }

  @ParameterizedTest
  @MethodSource("drawn")
  void is_the_text_a_terminal_shows_however_it_is_cut(String drawn, String expected) {
    for (int piece : new int[] {1, 2, 3, 1_000}) {
      assertThat(shown(drawn, piece)).isEqualTo(expected);
    }
  }

  @Test
  void a_long_line_is_emitted_unchanged_before_it_ends() {
    String text = "0123456789".repeat(1_000) + "\nnext";
    for (int piece : new int[] {1, 7, 4_096, 20_000}) {
      assertThat(shown(text, piece)).isEqualTo(text);
      assertThat(shown(text.replace('\n', '\r'), piece)).isEqualTo(text);
    }
  }
}
