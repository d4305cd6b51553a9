package dev.holdfast.redaction;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.nio.charset.Charset;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScrubberTest {
  private static final Scrubber KNOWING_NOTHING = Scrubber.knowing(List.of());

  static Stream<Planted> secrets() {
    return Planted.SECRETS.stream().map(Planted::of);
  }

  static List<String> ordinary() {
    return Planted.ORDINARY;
  }

  @ParameterizedTest
  @MethodSource("secrets")
  void a_secret_is_masked_and_the_text_around_it_is_unchanged(Planted planted) {
    assertThat(KNOWING_NOTHING.scrub(planted.text())).isEqualTo(planted.scrubbed());
  }

  @ParameterizedTest
  @MethodSource("secrets")
  void scrubbing_is_idempotent(Planted planted) {
    String once = KNOWING_NOTHING.scrub(planted.text());
    assertThat(KNOWING_NOTHING.scrub(once)).isEqualTo(once);
  }

  @ParameterizedTest
  @MethodSource("ordinary")
  void ordinary_text_is_unchanged(String line) {
    assertThat(KNOWING_NOTHING.scrub(line)).isEqualTo(line);
  }

  @Test
  void the_tables_have_enough_distinct_samples() {
    assertThat(Planted.SECRETS).hasSizeGreaterThanOrEqualTo(100).doesNotHaveDuplicates();
    assertThat(Planted.ORDINARY).hasSizeGreaterThanOrEqualTo(60).doesNotHaveDuplicates();
  }

  @Test
  void lines_are_scrubbed_separately() {
    String text = String.join("\n", secrets().map(Planted::text).toList());
    String scrubbed = String.join("\n", secrets().map(Planted::scrubbed).toList());
    assertThat(KNOWING_NOTHING.scrub(text)).isEqualTo(scrubbed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tr0ub4dor&3", "päss wörd/+", "q\"uo\\te\tx", "ab?>~~ÿ<?>", "plainvalue"})
  void a_known_value_is_masked_in_every_escaping(String secret) {
    Scrubber scrubber = Scrubber.knowing(List.of(secret));
    String percent = URLEncoder.encode(secret, UTF_8).replace("+", "%20");
    String json = secret.replace("\\", "\\\\").replace("\"", "\\\"").replace("\t", "\\t");
    for (String written :
        List.of(
            secret,
            json,
            percent,
            URLEncoder.encode(secret, UTF_8),
            Pattern.compile("%..")
                .matcher(percent)
                .replaceAll(hex -> hex.group().toLowerCase(Locale.ROOT)))) {
      assertThat(scrubber.scrub("[" + written + "]")).isEqualTo("[***]");
      assertThat(scrubber.scrub("x" + written + "yz" + written)).isEqualTo("x***yz***");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tr0ub4dor&3", "päss wörd", "ab?>~~ÿ<?>", "plainvalue", "sixsix"})
  void a_known_value_is_masked_in_base64_at_every_offset(String secret) {
    Scrubber scrubber = Scrubber.knowing(List.of(secret));
    for (String before : List.of("", "u", "us", "use", "user:")) {
      for (String after : List.of("", "!", "!!", "!!!")) {
        byte[] bytes = (before + secret + after).getBytes(UTF_8);
        for (Base64.Encoder encoder :
            List.of(
                Base64.getEncoder(),
                Base64.getEncoder().withoutPadding(),
                Base64.getUrlEncoder(),
                Base64.getUrlEncoder().withoutPadding())) {
          String encoded = encoder.encodeToString(bytes);
          String scrubbed = scrubber.scrub("x " + encoded + " y");
          assertThat(scrubbed).startsWith("x ").endsWith(" y").contains("***");
          assertThat(scrubbed.length()).isLessThanOrEqualTo(7 + before.length() * 2 + 8);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tr0ub4dor&3", "päss wörd/+", "a/b/c/d", "<q&uo\"te>", "plainvalue"})
  void a_known_value_is_masked_in_other_encodings(String secret) {
    Scrubber scrubber = Scrubber.knowing(List.of(secret));
    HexFormat hex = HexFormat.of();
    for (Charset charset : List.of(UTF_8, UTF_16LE, UTF_16BE)) {
      byte[] bytes = secret.getBytes(charset);
      assertThat(scrubber.scrub("<" + hex.formatHex(bytes) + ">")).isEqualTo("<***>");
      assertThat(scrubber.scrub("<" + hex.withUpperCase().formatHex(bytes) + ">"))
          .isEqualTo("<***>");
      assertThat(scrubber.scrub("<" + Base64.getEncoder().encodeToString(bytes) + ">"))
          .isEqualTo("<***>");
    }
    String escaped = secret.replace("\"", "\\\"");
    for (String written :
        List.of(
            secret.replace("/", "\\/"),
            escaped
                .replace("&", "\\u0026")
                .replace("<", "\\u003c")
                .replace(">", "\\u003e")
                .replace("ä", "\\u00e4")
                .replace("ö", "\\u00f6"),
            secret
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;"),
            secret.replaceAll("([ &<>\"])", "\\\\$1"),
            escaped.replace("\\", "\\\\").replace("\"", "\\\""),
            escaped
                .replace("&", "\\u0026")
                .replace("+", "\\u002B")
                .replace("<", "\\u003C")
                .replace(">", "\\u003E")
                .replace("ä", "\\u00E4")
                .replace("ö", "\\u00F6"),
            secret
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&#34;"),
            URLEncoder.encode(URLEncoder.encode(secret, UTF_8), UTF_8).replace("%2B", "+"))) {
      assertThat(scrubber.scrub("[" + written + "]")).as(written).isEqualTo("[***]");
    }
    for (HexFormat dump :
        List.of(
            HexFormat.ofDelimiter(" "),
            HexFormat.ofDelimiter(":").withUpperCase(),
            HexFormat.of().withPrefix("%"),
            HexFormat.of().withPrefix("\\x"))) {
      String written = dump.formatHex(secret.getBytes(UTF_8));
      assertThat(scrubber.scrub("<" + written + ">")).as(written).isEqualTo("<***>");
    }
    // UTF-16 output that is read as Latin-1.
    String wide = new String(secret.getBytes(UTF_16LE), ISO_8859_1);
    assertThat(Scrubber.knowing(List.of("plainvalue")).scrub(wide)).doesNotContain("plainvalue");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\u001b[31mhunter\u001b[0m2-hunter2",
        "\u001b[38;5;196mh\u001b[mu\u001b[1;3mnter2-hunter2",
        "\u009b31mhunter2-\u009b0mhunter2",
        "hunter2\u001b]8;;https://example.com\u0007-hunter2",
        "h\bhu\bun\bnt\bter2-hunter2",
        "_\bhunter2-hunter2",
        "1%\r2%\rhunter2-hunter2",
        "hunter2-\u200bhun\u00adter2",
        "hunter2-\u034fhun\ufe0ft\u180ber2",
        "hun\udb40\udc41ter2-hun\u2028ter2",
        "hunter2\u001b[s xx\u001b[u-hunter2",
        "hunter2\u001b7 xx\u001b8-hunter2",
        "h\0u\0n\0t\0e\0r\u00002\0-\0h\0u\0n\0t\0e\0r\u00002\0"
      })
  void a_secret_is_masked_among_terminal_control_sequences(String drawn) {
    Scrubber knowing = Scrubber.knowing(List.of("hunter2-hunter2"));
    assertThat(knowing.scrub("it is " + drawn)).matches("(it is )?\\*\\*\\*");
    StringBuilder streamed = new StringBuilder();
    try (ScrubbingStream stream = knowing.stream(streamed::append)) {
      drawn.chars().forEach(c -> stream.write(String.valueOf((char) c)));
    }
    assertThat(streamed).hasToString("***");
  }

  @Test
  void a_known_value_cut_off_at_the_end_of_the_text_is_masked() {
    Scrubber scrubber = Scrubber.knowing(List.of("hunter2-hunter2"));
    assertThat(scrubber.scrub("it is hunter2-hun…")).isEqualTo("it is ***…");
    assertThat(scrubber.scrub("hunters…")).isEqualTo("hunters…");
  }

  @Test
  void strings_in_a_structure_are_scrubbed_and_field_names_are_kept() {
    assertThat(
            KNOWING_NOTHING.scrubTexts(
                Map.of("password", List.of("password=hunter2", 3, Map.of("a", "token=abcdef")))))
        .isEqualTo(Map.of("password", List.of("password=***", 3, Map.of("a", "token=***"))));
  }

  @Test
  void a_known_value_is_masked_in_wrapped_base64() {
    String secret = "0123456789abcdefghijklmnopqrstuvwxyz".repeat(4);
    String wrapped = Base64.getMimeEncoder().encodeToString(secret.getBytes(UTF_8));
    assertThat(Scrubber.knowing(List.of(secret)).scrub(wrapped)).isEqualTo("***\n***\n***");
  }

  @Test
  void a_wrapped_known_value_is_masked_in_all_of_its_lines() {
    Scrubber scrubber = Scrubber.knowing(List.of("0123456789-abcdef"));
    for (int at = 1; at < "0123456789-abcdef".length(); at++) {
      String wrapped = new StringBuilder("0123456789-abcdef").insert(at, "\n  ").toString();
      String first = at < 4 ? "0123456789-abcdef".substring(0, at) : "***";
      assertThat(scrubber.scrub("it is " + wrapped + ", yes\nbye"))
          .isEqualTo("it is " + first + "\n  ***, yes\nbye");
    }
    assertThat(scrubber.scrub("<01234\n56789\n-abcdef>")).isEqualTo("<***\n***\n***>");
    assertThat(scrubber.scrub("password=" + "x".repeat(20_000) + "0\n123456789-abcdef"))
        .isEqualTo("password=***\n***");
    assertThat(scrubber.scrub("password=0123456\n789-abcdef!")).isEqualTo("password=***\n***!");
  }

  @Test
  void a_known_value_is_masked_in_a_file_in_wrapped_base64() {
    Scrubber scrubber = Scrubber.knowing(List.of("0123456789-abcdef"));
    for (int before = 20; before < 60; before++) {
      byte[] file = ("x".repeat(before) + "0123456789-abcdef\n").getBytes(UTF_8);
      String scrubbed = scrubber.scrub(Base64.getMimeEncoder().encodeToString(file));
      String left = scrubbed.replaceAll("[\\s=]", "").replace("***", "");
      assertThat(
              new String(Base64.getDecoder().decode(left.substring(0, left.length() & ~3)), UTF_8))
          .as(scrubbed)
          .doesNotContain("01234", "12345", "56789", "abcde", "bcdef");
    }
  }

  @Test
  void text_that_begins_like_a_known_value_is_held_until_the_next_line_and_kept() {
    Scrubber scrubber = Scrubber.knowing(List.of("holdfast-0123456789"));
    StringBuilder streamed = new StringBuilder();
    try (ScrubbingStream stream = scrubber.stream(streamed::append)) {
      stream.write("first\nthis is holdfast\n");
      assertThat(streamed).hasToString("first\n");
      stream.write("and no secret\nnot even of holdfast-0\n");
      assertThat(streamed).hasToString("first\nthis is holdfast\nand no secret\n");
    }
    assertThat(streamed)
        .hasToString("first\nthis is holdfast\nand no secret\nnot even of holdfast-0\n");
  }

  @Test
  void a_known_value_of_several_lines_is_masked_line_by_line() {
    Scrubber scrubber = Scrubber.knowing(List.of("first-line\nshort\n\nlast-line\n"));
    assertThat(scrubber.scrub("a first-line\nb short\nc last-line"))
        .isEqualTo("a ***\nb short\nc ***");
    assertThat(scrubber.scrub("{\"v\":\"first-line\\nshort\\n\\nlast-line\\n\"}"))
        .isEqualTo("{\"v\":\"***\"}");
  }

  @Test
  void a_known_value_longer_than_the_look_ahead_of_the_rules_is_masked() {
    String secret = "abcdefghij".repeat(1_000);
    assertThat(Scrubber.knowing(List.of(secret)).scrub("<" + secret + ">")).isEqualTo("<***>");
  }

  @Test
  void a_known_value_is_masked_to_its_end_though_a_rule_matches_less() {
    Scrubber scrubber = Scrubber.knowing(List.of("abcdef, ghijkl"));
    assertThat(scrubber.scrub("password=abcdef, ghijkl;")).isEqualTo("password=***;");
  }

  @Test
  void a_secret_that_matches_a_rule_only_after_another_was_masked_is_masked_too() {
    Scrubber scrubber = Scrubber.knowing(List.of("kn/own-value"));
    String scrubbed = scrubber.scrub("https://bob:abkn/own-valuecd@example.com/");
    assertThat(scrubbed).isEqualTo("https://bob:***@example.com/");
    assertThat(scrubber.scrub(scrubbed)).isEqualTo(scrubbed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "12345", "true", "password", "Localhost", "1234567", "aaaaaaaa"})
  void a_trivial_known_value_is_not_masked(String value) {
    String text = "it is " + value + " and true, password, Localhost, 1234567, aaaaaaaa";
    assertThat(Scrubber.knowing(List.of(value)).scrub(text)).isEqualTo(text);
  }

  @Test
  void the_whole_value_is_masked_when_another_is_its_prefix() {
    Scrubber scrubber = Scrubber.knowing(List.of("abcdefgh", "abcdefghijklm", "fghijklmnop"));
    assertThat(scrubber.scrub("-abcdefghijklm- -abcdefghijklmnop-")).isEqualTo("-***- -***-");
  }

  @Test
  void an_unterminated_private_key_masks_a_bounded_amount_of_text() {
    String text = "-----BEGIN RSA PRIVATE KEY-----\n" + "x".repeat(79).concat("\n").repeat(400);
    String scrubbed = KNOWING_NOTHING.scrub("before\n" + text + "after\n");
    assertThat(scrubbed)
        .startsWith("before\n-----BEGIN RSA PRIVATE KEY-----***")
        .endsWith("x\nafter\n")
        .hasSizeLessThan(text.length() - (15 << 10))
        .hasSizeGreaterThan(text.length() - (17 << 10));
    assertThat(KNOWING_NOTHING.scrub(scrubbed)).isEqualTo(scrubbed);
  }

  @Test
  void a_private_key_is_masked_across_calls_and_nothing_after_it() {
    String before = KNOWING_NOTHING.scrub("x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n") + "\n";
    assertThat(before).isEqualTo("x\n-----BEGIN RSA PRIVATE KEY-----***\n");
    assertThat(KNOWING_NOTHING.scrubAfter(before, "DEK-Info: AES\n\nMII+/a==\r\n")).isEmpty();
    assertThat(KNOWING_NOTHING.scrubAfter(before, "MII\n-----END RSA PRIVATE KEY-----\nbye\n"))
        .isEqualTo("-----END RSA PRIVATE KEY-----\nbye\n");
    assertThat(KNOWING_NOTHING.scrubAfter(before, "MII\nit is done\nMII\n"))
        .isEqualTo("it is done\nMII\n");
    assertThat(KNOWING_NOTHING.scrubAfter(before + "it is done\n", "MII\npassword=hunter2\n"))
        .isEqualTo("MII\npassword=***\n");
    assertThat(KNOWING_NOTHING.scrubAfter("", "MII\n")).isEqualTo("MII\n");
  }

  @Test
  void text_after_a_private_key_is_scrubbed_too() {
    assertThat(
            KNOWING_NOTHING.scrub(
                "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\npassword=hunter2\nbye"))
        .isEqualTo("-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\npassword=***\nbye");
  }

  @Test
  void a_secret_anywhere_in_a_very_long_line_is_masked() {
    for (int before = 11_000; before < 18_000; before += 97) {
      String text = ". ".repeat(before / 2) + "password=hunter2 " + "- ".repeat(10_000);
      assertThat(KNOWING_NOTHING.scrub(text)).isEqualTo(text.replace("hunter2", "***"));
    }
  }

  @Test
  void a_very_long_secret_becomes_one_mask() {
    assertThat(KNOWING_NOTHING.scrub("password=" + "x1".repeat(500_000) + "\nnext"))
        .isEqualTo("password=***\nnext");
  }
}
