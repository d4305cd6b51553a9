package dev.holdfast.worker.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redaction.Scrubber;
import dev.holdfast.testkit.Effort;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SignatureTest {
  /** What takes the square of its length would take far longer for this than it may. */
  private static final int SIZE = 1 << 17;

  private static final String SECRET = "correct horse-battery";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "correct horse-battery",
        "\u001b[31mcorrect\u001b[0m horse-\u001b[1mbattery\u001b[0m",
        "c\bco\bor\brr\brect horse-battery",
        "5%\rcorrect horse-battery",
        "correct\t horse-battery"
      })
  void no_signature_contains_a_secret(String drawn) {
    assertThat(sign("cannot log in with " + drawn)).doesNotContain("horse").doesNotContain("batt");
  }

  @Test
  void the_hash_is_not_redacted_after_a_word_like_token() {
    assertThat(sign("no such token:")).matches("no such token: #[0-9a-f]{16}");
  }

  private static String sign(String text) {
    return Signature.of(text, Scrubber.knowing(List.of(SECRET))::scrub);
  }

  private static Arguments pair(String one, String other) {
    return Arguments.of(one, other);
  }

  static Stream<Arguments> alike() {
    return Stream.of(
        pair("expected 3 but was 4", "expected 3 but was 5"),
        pair("expected: <3.14> but was: <-2.7e10>", "expected: <1> but was: <2,000.5>"),
        pair("took 900 ms", "took 1.2 s"),
        pair("took 1m 12s", "took 3m 4s"),
        pair("took 2h 3m 12s", "took 12s"),
        pair("timeout PT1.5S", "timeout PT2M3S"),
        pair("only 512 MB of 2 GiB left", "only 7KiB of 3.5 GB left"),
        pair("at 93% of the disk", "at 4.5% of the disk"),
        pair("/tmp/ws-123/src/App.java:42: error", "/home/bob/x/App.java:7: error"),
        pair("in C:\\work\\a1\\App.java:3", "in D:\\other\\App.java:99"),
        pair("see file:///tmp/a/b/report.txt", "see file:/var/c/report.txt"),
        pair("no file /tmp/tmp.aB3dE9xYzQ", "no file /tmp/tmp.QQeR7tYuIo"),
        pair("Object@1a2b3c4d was null", "Object@77fe0 was null"),
        pair("segfault at 0x7ffe12 ip 0xdeadbeef", "segfault at 0x0 ip 0x55aa"),
        pair("bad object 3f786850e387550fdab836ed7e6dc881de23001b", "bad object 89e6c98"),
        pair(
            "job 123e4567-e89b-12d3-a456-426614174000 lost",
            "job 9b2d0f54-0c5f-4b43-8d5e-2f1f0f5d7c11 lost"),
        pair("2026-11-15T12:30:00.123Z boom", "2026-01-02 03:04:05,678 boom"),
        pair("2026-11-15 12:30:00 +0200 ERROR boom", "2026-11-16 01:02:03 UTC ERROR boom"),
        pair("Nov 15 12:30:00 host app[812]: boom", "Jan  2 01:02:03 host app[7]: boom"),
        pair("Sun Nov 15 12:30:00 UTC 2026 boom", "Mon Jan 2 01:02:03 CET 2027 boom"),
        pair("Sun, 15 Nov 2026 12:30:00 GMT boom", "Mon, 2 Jan 2027 01:02:03 GMT boom"),
        pair("[12:30:00] boom", "[1:02:03.456] boom"),
        pair("connect to 10.0.0.1:5432 refused", "connect to 192.168.7.12:6000 refused"),
        pair("connect to fe80:0:0:1:2 refused", "connect to 10.0.0.1 refused"),
        pair("localhost:8080 in use", "localhost:9090 in use"),
        pair("[pool-1-thread-5] boom", "[pool-12-thread-31] boom"),
        pair("Thread12 died, pid 99", "Thread7 died, pid 12345"),
        pair("File \"/a/b/x.py\", line 3, in f", "File \"/c/x.py\", line 44, in f"),
        pair("x.c:3:14: error: no", "x.c:17:2: error: no"),
        pair("\u001b[31mboom\u001b[0m", "boom"),
        pair("\u001b]0;title\u0007boom\u001b[K", "boom"),
        pair("10%\r20%\rboom", "boom"),
        pair("boom\r\nbang\r\n", "boom\nbang"),
        pair("boom   and\tbang  ", "boom and bang"),
        pair("50% [=====>    ] 5/10\n.....\nboom", "boom"),
        pair("Receiving objects:  12% (3/25)\nboom", "Receiving objects: 100% (25/25)\nboom"),
        pair("retrying\nretrying\nretrying\nboom", "retrying\nboom"),
        pair("\n\nboom\n\n", "boom"),
        pair("x.$Proxy12.run", "x.$Proxy7.run"),
        pair("lambda$main$0 failed", "lambda$main$3 failed"),
        pair("earlier\n" + "line\nother\n".repeat(40), "line\nother\n".repeat(30)));
  }

  static Stream<Arguments> different() {
    return Stream.of(
        pair("NullPointerException at A.java", "NullPointerException at B.java"),
        pair("NullPointerException", "IllegalStateException"),
        pair("shouldParseDates failed", "shouldParseTimes failed"),
        pair("test_add_2 failed", "test_add_3 failed"),
        pair("shouldParse2Items failed", "shouldParse3Items failed"),
        pair("error[E0308]: no", "error[E0425]: no"),
        pair("TS2345: no", "TS2551: no"),
        pair("Boom", "boom"),
        pair("/tmp/a/App.java:1", "/tmp/a/Main.java:1"),
        pair("cannot find symbol foo", "cannot find symbol bar"),
        pair("expected 3 but was 4", "expected null but was 4"),
        pair("connection refused", "connection reset"),
        pair("boom", "boom\nbang"),
        pair("boom\nbang", "bang\nboom"),
        pair("a\nboom", "b\nboom"),
        pair("", "boom"),
        pair("\tat a.B.c(B.java:1)", "\tat a.B.d(B.java:1)"),
        pair("utf8 is bad", "utf16 is bad"),
        pair("could not resolve https://a.example/x", "could not resolve https://b.example/x"),
        pair("exit code 1: make", "exit code 1: npm"),
        pair("defaced", "effaced"),
        pair("took 3 steps", "took 3 s"),
        pair("AssertionError: true", "AssertionError: false"));
  }

  @ParameterizedTest
  @MethodSource("alike")
  void the_same_failure_has_the_same_signature(String one, String other) {
    assertThat(sign(one)).isEqualTo(sign(other));
  }

  @ParameterizedTest
  @MethodSource("different")
  void another_failure_has_another_signature(String one, String other) {
    assertThat(sign(one)).isNotEqualTo(sign(other));
  }

  @Test
  void it_shows_the_error_line_with_placeholders() {
    assertThat(sign("noise\n/tmp/ws-123/src/App.java:42: error: ';' expected\n"))
        .matches("<path>/App\\.java:<n>: error: ';' expected #[0-9a-f]{16}");
  }

  @Test
  void a_stack_trace_is_shown_as_its_root_exception() {
    assertThat(
            sign(
                """
                java.lang.IllegalStateException: 7 is odd
                \tat a.B.c(B.java:1)
                Caused by: java.io.IOException: disk
                \tat a.B.d(B.java:2)
                \t... 14 more
                """))
        .matches("Caused by: java\\.io\\.IOException: disk #[0-9a-f]{16}");
  }

  @Test
  void output_without_words_has_a_signature_too() {
    assertThat(sign("")).isEqualTo(sign("100%\n...\n")).startsWith("(no words) #");
  }

  @Test
  void a_long_line_is_cut_between_characters() {
    assertThat(sign("x😀".repeat(1_000)).length()).isLessThanOrEqualTo(120 + 18);
    assertThat(sign("x😀".repeat(1_000))).doesNotContain("\ud83d…").contains("…");
  }

  @Test
  void only_the_end_of_the_output_counts() {
    String end = "the same words again\nand others\n".repeat(20);
    assertThat(sign("one thing\n" + end)).isEqualTo(sign("another\n" + end));
    String long40 = ("word ".repeat(100) + "\nother\n").repeat(19);
    assertThat(sign("one thing\n" + long40)).isEqualTo(sign("another\n" + long40));
  }

  @Test
  void the_lengths_of_numbers_do_not_change_the_signature() {
    String line = "job %s of %s failed because of reasons%n".formatted("%1$s", "%1$s");
    StringBuilder one = new StringBuilder();
    StringBuilder other = new StringBuilder();
    for (int i = 0; i < 400; i++) {
      one.append(line.formatted(i)).append("step ").append((char) ('a' + i % 20)).append('\n');
      other.append(line.formatted(i * 1_000_003L));
      other.append("step ").append((char) ('a' + i % 20)).append('\n');
    }
    assertThat(sign(one.toString())).isEqualTo(sign(other.toString()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1",
        "1 ",
        "1.",
        "1:",
        "1-",
        "-",
        "/",
        "/a",
        ",/a",
        "a/",
        "C:\\",
        "\\",
        "\u001b",
        "\u001b]",
        "\u001b[",
        "a",
        "abc1",
        "0x",
        "@1",
        ":",
        "a:",
        "1s",
        "1 s ",
        "1m",
        "PT1",
        "Nov ",
        "Mon, ",
        "<time>",
        "<time> ",
        "tmp",
        "\r",
        " ",
        "12:",
        "12:34:56",
        "2026-01-01 ",
        "file:/",
        "e",
        "1e"
      })
  void hostile_text_is_processed_in_bounded_time(String pattern) {
    Effort.isBelow(
        Duration.ofSeconds(5),
        () -> {
          assertThat(sign(pattern.repeat(SIZE / pattern.length()))).contains(" #");
          assertThat(sign((pattern + "\n").repeat(SIZE >> 4))).contains(" #");
        });
  }
}
