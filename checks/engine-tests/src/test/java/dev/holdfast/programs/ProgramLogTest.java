package dev.holdfast.programs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.OnlyWithAll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The end of a program's output is kept, without secrets. */
@OnlyWithAll
class ProgramLogTest extends ProgramFixture {
  @Test
  void output_is_stored_while_it_runs_and_after_its_end() throws IOException {
    JobId id =
        enqueue(Job.of("program", Map.of("go", folder.resolve("go").toString())).maxAttempts(1));
    start(
        worker()
            .handle(
                shell(
                    "echo first; echo password=hunter22 >&2; printf '\\033[31mred\\033[0m \\377\\n';"
                        + " while [ ! -e \"%s\" ]; do sleep 0.05; done; printf last; exit 3"
                            .formatted(folder.resolve("go")))));
    until(() -> log(id).lines().count() == 3);
    assertThat(holdfast.find(id).orElseThrow().state()).isEqualTo(JobState.RUNNING);
    assertThat(log(id).lines()).contains("first", "password=***", "red \uFFFD");
    Files.createFile(folder.resolve("go"));
    await(id, JobState.FAILED);
    assertThat(log(id)).endsWith("last\n");
  }

  @Test
  void secrets_in_the_last_lines_are_redacted() throws IOException {
    JobId id = ran("{ echo api_key=abcdef0123456789; echo 'bad password=hunter22'; } >&2; exit 3");
    Failure failure = failure(id);
    assertThat(failure.message()).endsWith("bad password=***");
    assertThat(failure.stackTrace()).contains("api_key=***").doesNotContain("hunter22", "abcdef01");
    assertThat(files(scratchRoot())).anyMatch(file -> file.endsWith("output.log"));
    for (String file : files(scratchRoot())) {
      assertThat(Files.readString(scratchRoot().resolve(file)))
          .doesNotContain("hunter22", "abcdef01");
    }
  }

  @Test
  void secrets_among_colour_codes_and_in_messages_are_redacted() throws IOException {
    JobId id =
        ran(
            "echo 'holdfast: {\"progress\": 5, \"message\": \"password=hunter22\"}';"
                + " echo 'holdfast: {\"event\": {\"type\": \"a:b\", \"data\": [\"password=hunter22\"]}}';"
                + " printf 'bad \\033[1mpass\\033[0mword=\\033[31mhunter\\033[0m22\\n'; exit 3");
    Failure failure = failure(id);
    assertThat(failure.message()).endsWith("bad password=***");
    assertThat(failure.stackTrace()).isEqualTo("bad password=***");
    assertThat(log(id)).isEqualTo("bad password=***\n");
    assertThat(
            db.queryOne(
                String.class,
                "SELECT string_agg(data::text, '') FROM holdfast.event WHERE job_id = ?",
                id.value()))
        .contains("password=***")
        .doesNotContain("hunter");
    for (String file : files(scratchRoot())) {
      assertThat(Files.readString(scratchRoot().resolve(file))).doesNotContain("hunter");
    }
  }

  @Test
  void a_secret_of_several_lines_is_redacted() throws IOException {
    JobId id =
        ran(
            "echo -----BEGIN PRIVATE KEY-----; echo MIIEvQIBADANBgkqhkiG9w0BAQEFAASC;"
                + " echo -----END PRIVATE KEY-----; echo after; exit 3");
    assertThat(log(id)).contains("BEGIN PRIVATE KEY", "after").doesNotContain("MIIEv");
    assertThat(failure(id).stackTrace()).contains("after").doesNotContain("MIIEv");
    for (String file : files(scratchRoot())) {
      assertThat(Files.readString(scratchRoot().resolve(file))).doesNotContain("MIIEv");
    }
  }

  private String log(JobId id) {
    return holdfast.queries().log(id, LogCursor.START).parts().stream()
        .map(LogTail.Part::text)
        .collect(Collectors.joining());
  }

  @Test
  void a_gigabyte_without_a_newline_uses_bounded_memory_and_disk() throws IOException {
    JobId id = ran("head -c 1G /dev/zero; exit 3");
    assertThat(failure(id).code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(Files.size(scratch(id, 1).resolve(".holdfast/output.log"))).isLessThan(100_000);
  }

  @Test
  void a_very_long_log_keeps_its_last_lines_within_ten_megabytes() throws IOException {
    JobId id = ran("yes 'a line of thirty-two characters' | head -c 20M; echo the end; exit 3");
    Path log = scratch(id, 1).resolve(".holdfast/output.log");
    assertThat(Files.size(log) + Files.size(log.resolveSibling("output.log.1")))
        .isLessThanOrEqualTo(10 << 20);
    assertThat(Files.readString(log)).endsWith("the end\n");
    assertThat(failure(id).message()).endsWith("the end");
  }

  @Test
  void its_last_lines_are_kept_with_the_failure() {
    JobId id = ran(shell("seq 100; exit 65"), Job.of("program"));
    assertThat(failure(id).stackTrace()).startsWith("61\n62\n").endsWith("\n100");
  }
}
