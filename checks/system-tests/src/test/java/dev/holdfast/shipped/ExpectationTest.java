package dev.holdfast.shipped;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which outputs match an expectation, and which do not. */
class ExpectationTest {
  private static final String A = "01a1dd4a-b938-7556-b3c6-ab0755016a84";
  private static final String B = "01a1dd4b-52c1-7c0f-9d1e-3f5a1b7c9e20";

  private static boolean same(String expected, String actual) {
    return Expectation.exactly(expected.lines().toList())
        .match(Expectation.lines(actual), Map.of())
        .isPresent();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "ID  KIND    AGE ~ ID    KIND  AGE",
        "ready in 2.0 s ~ ready in 12 min 3 s",
        "made 3.4 MB at 2026-11-15T03:40:24.850Z ~ made 12 B at 2027-01-01T00:00:00Z",
        "03:40:24.850    1  created ~ 23:59:59.999  104  created",
        "by worker:a:0@vm.19627.gipl ~ by worker:a:0@host-1.7.x2",
        "page http://127.0.0.1:8420 ~ page http://127.0.0.1:17",
        "worker:a:0  healthy  27973  0 ~ worker:a:0  healthy  12  0",
        "key hf_8f2b6c0d91ae_... ok ~ key hf_000000000000_abc ok",
        "holdfast 0.1.0-SNAPSHOT on PostgreSQL 18.6, schema 5 ~ holdfast 1.2.3 on PostgreSQL 17, schema 12",
        "nothing runs in …/.holdfast) ~ nothing runs in /home/ada/.holdfast)",
      })
  void values_that_vary_between_runs_may_differ(String expected, String actual) {
    assertThat(same(expected, actual)).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "1 job requeued ~ 2 jobs requeued",
        "FAILED  3  4.9 s ~ FAILED  2  4.9 s",
        "ready in 2.0 s ~ ready in a moment",
        "ready in 2.0 s ~ ready in 2.0 s; more",
        "03:40:24.850    1  created ~ 03:40:24.850    1  done",
        "worker:a:0@vm.1.x ~ worker:b:0@vm.1.x",
        "http://127.0.0.1:8420/v1 ~ http://127.0.0.1:8420/v2",
        "[███···] 34 %  asleep ~ [███···] 34 %  awake",
        "{\"n\": 5} ~ {\"n\": 6}",
      })
  void other_values_may_not_differ(String expected, String actual) {
    assertThat(same(expected, actual)).isFalse();
  }

  @Test
  void an_extra_or_missing_line_is_a_mismatch_unless_marked() {
    assertThat(same("a\nb", "a\nb\n")).isTrue();
    assertThat(same("a\nb", "a")).isFalse();
    assertThat(same("a\nb", "a\nb\nc")).isFalse();
    assertThat(same("a\nb", "b\na")).isFalse();
    assertThat(same("", "a")).isFalse();
    assertThat(same("a\n…\nd", "a\nb\nc\nd")).isTrue();
    assertThat(same("a\n…\nd", "a\nd")).isTrue();
    assertThat(same("a\n…\nd", "a\nb\nc")).isFalse();
  }

  @Test
  void a_command_that_keeps_running_may_print_other_lines_between_and_after() {
    Expectation banner = Expectation.among(List.of("a", "b"));
    assertThat(banner.match(List.of("x", "a", "y", "b", "z"), Map.of())).isPresent();
    assertThat(banner.match(List.of("b", "a"), Map.of())).isEmpty();
  }

  @Test
  void an_id_denotes_the_same_job_everywhere() {
    Map<String, String> ids =
        Expectation.exactly(List.of(A)).match(List.of(B), Map.of()).orElseThrow();
    assertThat(ids).containsExactly(Map.entry(A, B));
    Expectation again = Expectation.exactly(List.of("show " + A));
    assertThat(again.match(List.of("show " + B), ids)).isPresent();
    assertThat(again.match(List.of("show " + A), ids)).isEmpty();
    assertThat(same(A + " " + A, B + " " + A)).isFalse();
  }

  @Test
  void a_redrawn_progress_bar_counts_once_or_not_at_all() {
    String drawn = "a\n[█··] 34 %  asleep\r                  \r[██·] 67 %  asleep\r        \rb";
    assertThat(same("a\n[█···] 12 %  asleep\nb", drawn)).isTrue();
    assertThat(same("a\nb", drawn)).isTrue();
    assertThat(same("a\n[█···] 12 %  asleep\nb", "a\nb")).isFalse();
  }

  @Test
  void a_document_is_parsed_into_commands_and_their_output() {
    Document document =
        Document.parse(
            "a.md",
            """
            <!-- setup
            A=1
            -->
            ```java
            $ no command
            ```
            ```console
            $ first \\
                --more   # of it
            {"a":1,
              "b":2}
            $ second
            ```
            <!-- not run: it takes a day -->
            ```console
            $ third
            ```
            """
                .lines()
                .toList());
    assertThat(document.steps())
        .containsExactly(
            new Document.Command(2, "A=1", List.of(), true, ""),
            new Document.Command(
                8, "first \\\n    --more   # of it", List.of("{\"a\":1,\"b\":2}"), false, ""),
            new Document.Command(12, "second", List.of(), false, ""),
            new Document.NotRun(15, "it takes a day"));
    assertThatThrownBy(() -> Document.parse("a.md", List.of("```console", "printed", "```")))
        .hasMessageContaining("line 2");
    assertThatThrownBy(
            () -> Document.parse("a.md", List.of("<!-- not run: -->", "```console", "```")))
        .hasMessageContaining("no reason");
  }
}
