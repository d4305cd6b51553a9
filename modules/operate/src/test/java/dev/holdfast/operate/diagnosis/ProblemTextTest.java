package dev.holdfast.operate.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A problem in words, from its code and parameters. */
class ProblemTextTest {
  private static final Map<String, Object> PARAMETERS =
      Map.ofEntries(
          Map.entry(Finding.QUEUE, "tag"),
          Map.entry(Finding.KIND, "mail"),
          Map.entry(Finding.WORKER, "worker:tag:0"),
          Map.entry(Finding.SUPERVISOR, "here"),
          Map.entry(Finding.SCHEDULE, "nightly"),
          Map.entry(Finding.JOBS, 3L),
          Map.entry(Finding.WORKERS, 2),
          Map.entry(Finding.WORKER_NAMES, "worker:tag:0, worker:tag:1"),
          Map.entry(Finding.SINCE, Instant.parse("2026-03-01T12:00:00.123456Z")),
          Map.entry(Finding.SECONDS, 30L),
          Map.entry(Finding.REASON, "137 (SIGKILL)"),
          Map.entry(Finding.EXIT_CODE, 137),
          Map.entry(Finding.RESTARTS, 4),
          Map.entry(Finding.NEXT_RESTART, Instant.parse("2026-03-01T12:01:00Z")));

  @ParameterizedTest
  @EnumSource(ProblemCode.class)
  void every_problem_is_worded_alike_where_it_was_found_and_from_json(ProblemCode problem) {
    ProblemText found = ProblemText.of(new Finding(problem, PARAMETERS));
    assertThat(found.message()).doesNotContain("null", ".123456");
    assertThat(found.cliHint()).isNotBlank().doesNotContain("null");
    assertThat(found.httpHint()).isNotBlank().doesNotContain("null", "'holdfast workers");
    // As they arrive over HTTP: times are texts, and numbers of any type.
    Map<String, Object> json =
        PARAMETERS.entrySet().stream()
            .collect(
                Collectors.toMap(
                    Map.Entry::getKey,
                    entry ->
                        entry.getValue() instanceof Number number
                            ? number.intValue()
                            : entry.getValue().toString()));
    assertThat(ProblemText.of(problem.text(), json)).contains(found);
  }

  @Test
  void a_code_of_a_newer_server_is_not_worded_here() {
    assertThat(ProblemText.of("moon_full", Map.of())).isEmpty();
  }
}
