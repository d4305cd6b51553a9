package dev.holdfast.redaction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Extent;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScrubbingStreamTest {
  private static final Scrubber SCRUBBER =
      Scrubber.knowing(List.of("known-to-us", "two\nknown lines"));
  private final List<String> out = new ArrayList<>();

  private ScrubbingStream stream() {
    return SCRUBBER.stream(out::add);
  }

  private String all() {
    return String.join("", out);
  }

  static LongStream seeds() {
    return LongStream.range(0, Extent.of(20, 100));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void the_output_does_not_depend_on_how_the_text_is_cut(long seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder();
    StringBuilder expected = new StringBuilder();
    for (int i = random.nextInt(40); i >= 0; i--) {
      Planted line = line(random);
      text.append(line.text()).append('\n');
      expected.append(line.scrubbed()).append('\n');
    }
    String whole = text.toString();
    try (ScrubbingStream stream = stream()) {
      cut(random, whole).forEach(stream::write);
    }
    assertThat(all()).isEqualTo(SCRUBBER.scrub(whole)).isEqualTo(expected.toString());
    assertThat(SCRUBBER.scrub(all())).isEqualTo(all());
  }

  @ParameterizedTest
  @ValueSource(strings = {"done: known-to\n", "done: known-to", "done\nknown-to\n", "two\n", "two"})
  void a_last_line_that_ends_as_a_secret_begins_is_handed_out(String text) {
    try (ScrubbingStream stream = stream()) {
      stream.write(text);
    }
    assertThat(all()).isEqualTo(text);
  }

  /** Without line ends, and longer than the part that is held back. */
  @ParameterizedTest
  @MethodSource("seeds")
  void the_output_for_very_long_lines_does_not_depend_on_how_they_are_cut(long seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder();
    while (text.length() < 60_000) {
      text.append(line(random).text().replace('\n', ' ')).append(random.nextInt(9) == 0 ? "" : " ");
    }
    try (ScrubbingStream stream = stream()) {
      cut(random, text.toString()).forEach(stream::write);
    }
    assertThat(all()).isEqualTo(SCRUBBER.scrub(text.toString())).doesNotContain("known-to-us");
  }

  private static Planted line(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> Planted.of(Planted.SECRETS.get(random.nextInt(Planted.SECRETS.size())));
      case 1 -> new Planted("we said ⟦known-to-us⟧, and ⟦known lines⟧");
      default -> new Planted(Planted.ORDINARY.get(random.nextInt(Planted.ORDINARY.size())));
    };
  }

  private static List<String> cut(Random random, String text) {
    int most = 1 + random.nextInt(random.nextBoolean() ? 5 : 2_000);
    List<String> pieces = new ArrayList<>();
    for (int from = 0; from < text.length(); ) {
      int to = Math.min(text.length(), from + random.nextInt(most + 1));
      pieces.add(text.substring(from, to));
      from = to;
    }
    return pieces;
  }

  @Test
  void whole_lines_are_emitted_at_once_and_partial_ones_are_not() {
    ScrubbingStream stream = stream();
    stream.write("one\ntwo\nthr");
    assertThat(all()).isEqualTo("one\ntwo\n");
    stream.write("ee pass");
    stream.write("word=hunt");
    stream.write("er2");
    assertThat(all()).isEqualTo("one\ntwo\n");
    stream.write("\n");
    assertThat(all()).isEqualTo("one\ntwo\nthree password=***\n");
    stream.close();
  }

  @Test
  void of_a_redrawn_line_only_the_last_version_is_emitted() {
    ScrubbingStream stream = stream();
    stream.write("10%\r20%\r30");
    assertThat(all()).isEmpty();
    stream.write("%\r\n");
    assertThat(all()).isEqualTo("30%\n");
    stream.close();
  }

  @Test
  void closing_emits_the_rest() {
    ScrubbingStream stream = stream();
    stream.write("token=abcdef");
    assertThat(out).isEmpty();
    stream.close();
    assertThat(all()).isEqualTo("token=***");
    stream.close();
    assertThat(all()).isEqualTo("token=***");
  }

  @Test
  void of_a_very_long_line_a_bounded_part_is_held_back() {
    ScrubbingStream stream = stream();
    int written = 0;
    for (int i = 0; i < 10_000; i++) {
      stream.write("word " + i + " ");
      written += ("word " + i + " ").length();
      assertThat(written - all().length()).isLessThanOrEqualTo(18 << 10);
    }
    stream.close();
    assertThat(all()).hasSize(written);
  }

  @Test
  void a_private_key_emits_only_its_header_a_mask_and_its_footer() {
    ScrubbingStream stream = stream();
    stream.write("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n");
    assertThat(all()).isEqualTo("-----BEGIN RSA PRIVATE KEY-----***");
    for (int i = 0; i < 20; i++) {
      stream.write("abcdefgh\n");
    }
    assertThat(all()).isEqualTo("-----BEGIN RSA PRIVATE KEY-----***");
    stream.write("-----END RSA PRIV");
    stream.write("ATE KEY-----\nnext\n");
    assertThat(all())
        .isEqualTo("-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nnext\n");
  }
}
