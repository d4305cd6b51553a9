package dev.holdfast.app.error;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.cli.Terminal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Unknown commands and options, and missing ones. */
class UsageErrorsTest {
  private static Terminal.Answer run(String line) {
    return Terminal.run(Map.of(), line.isEmpty() ? List.of() : List.of(line.split(" ", -1)));
  }

  @Test
  void the_program_without_arguments_prints_its_help() {
    Terminal.Answer alone = run("");
    assertThat(alone.code()).isZero();
    assertThat(alone.err()).isEmpty();
    assertThat(alone.out()).isEqualTo(run("--help").out());
    assertThat(alone.out()).first().asString().startsWith("Usage: holdfast");
  }

  @Test
  void a_command_group_without_a_command_lists_its_commands() {
    Terminal.Answer alone = run("queues");
    assertThat(alone.code()).isEqualTo(ExitCode.USAGE);
    assertThat(alone.out()).isEmpty();
    assertThat(alone.err())
        .containsExactly(
            "holdfast: 'holdfast queues' needs a command: list, show, pause, resume, limit, rate",
            "Try 'holdfast queues --help'.");
  }

  @ParameterizedTest
  @CsvSource({
    "hlep, unknown command 'hlep', help",
    "enqeue echo, unknown command 'enqeue', enqueue",
    "que, unknown command 'que', queues",
    "help jbos, unknown command 'jbos', jobs",
    "jobs lst, unknown command 'jobs lst', list",
    "queues resmue mail, unknown command 'queues resmue', resume",
    "jobs list --sate failed, unknown option '--sate', --state",
    "jobs list --sate=failed, unknown option '--sate', --state",
    "jobs --hlep, unknown option '--hlep', --help",
    "--verison, unknown option '--verison', --version",
    "worker --concurency 3, unknown option '--concurency', --concurrency"
  })
  void a_near_miss_gets_a_suggestion(String line, String message, String suggested) {
    Terminal.Answer answer = run(line);
    assertThat(answer.code()).isEqualTo(ExitCode.USAGE);
    assertThat(answer.out()).isEmpty();
    assertThat(answer.err()).hasSize(2);
    assertThat(answer.err().getFirst())
        .isEqualTo("holdfast: %s: did you mean '%s'?".formatted(message, suggested));
  }

  @Test
  void a_hidden_option_is_not_suggested() {
    assertThat(run("dev --rehears").err().getFirst())
        .isEqualTo("holdfast: unknown option '--rehears'");
  }

  @Test
  void an_unrecognizable_word_gets_no_suggestion() {
    assertThat(run("jobs obliterate").err().getFirst())
        .isEqualTo(
            "holdfast: unknown command 'jobs obliterate': there are list, show, steps, log, watch,"
                + " cancel, retry, edit, delete, control, fork, signal, approve, reject, link");
    assertThat(run("jobs list --frobnicate").err().getFirst())
        .isEqualTo("holdfast: unknown option '--frobnicate'");
  }

  @Test
  void a_surplus_argument_suggests_quotes() {
    assertThat(run("enqueue sleep {seconds: 3}").err().getFirst())
        .isEqualTo(
            "holdfast: '3}' is one argument too many: quote an argument that has spaces in it");
  }
}
