package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.cli.Terminal;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rejected jobs, jobs that do not exist, and unknown commands. */
@ExtendWith(DatabaseExtension.class)
class BadInputTest {
  private static final String UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";

  static Stream<WrongCommand> commands() {
    return Stream.of(
        WrongCommand.of(6, "not JSON", "enqueue", "echo", "{not json"),
        new WrongCommand(
            "enqueue with a payload of two megabytes",
            6,
            "over the limit of 1,048,576 bytes: store it elsewhere",
            (launch, database) -> {
              Path large = launch.file("large.json", '"' + "x".repeat(2 << 20) + '"');
              launch.arguments("enqueue", "echo", "@" + large);
            }),
        WrongCommand.of(6, "delay .* must be zero or more", "enqueue", "echo", "--delay=-5s"),
        WrongCommand.of(2, "'soon' is no duration: write", "enqueue", "echo", "--delay", "soon"),
        WrongCommand.of(6, "priority 11 must be between", "enqueue", "echo", "--priority", "11"),
        WrongCommand.of(6, "kind 'a kind' must.*the space does not belong", "enqueue", "a kind"),
        WrongCommand.of(
            6, "queue .* must.*':' does not belong", "enqueue", "echo", "--queue", "a:b"),
        WrongCommand.of(6, "maxAttempts 0 must be", "enqueue", "echo", "--max-attempts", "0"),
        WrongCommand.of(
            2,
            "@nowhere.json cannot be read: there is no such",
            "enqueue",
            "echo",
            "@nowhere.json"),
        WrongCommand.of(5, "no job " + UNKNOWN_ID, "jobs", "show", UNKNOWN_ID),
        WrongCommand.of(5, "no job " + UNKNOWN_ID, "jobs", "watch", UNKNOWN_ID),
        WrongCommand.of(5, "no job " + UNKNOWN_ID, "jobs", "cancel", UNKNOWN_ID),
        WrongCommand.of(5, "no job " + UNKNOWN_ID, "jobs", "retry", UNKNOWN_ID),
        WrongCommand.of(6, "'17' is not a job id, nor the first or last 4", "jobs", "show", "17"));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void invalid_input_is_rejected_in_one_line(
      WrongCommand wrong, @TempDir Path folder, TestDatabase database) throws IOException {
    wrong.isRefusedInOneLine(folder, database);
  }

  static Stream<WrongCommand> misunderstood() {
    return Stream.of(
        WrongCommand.of(2, "unknown command 'enque'", "enque"),
        WrongCommand.of(2, "unknown option '--quue'", "worker", "--quue", "x"),
        WrongCommand.of(2, "Missing required parameter: 'KIND'", "enqueue"),
        WrongCommand.of(2, "--priority.*'high'", "enqueue", "echo", "--priority", "high"),
        WrongCommand.of(
            2, "--state.*WAITING, PENDING.*SLEEPING", "jobs", "list", "--state", "SLEEPING"));
  }

  @ParameterizedTest
  @MethodSource("misunderstood")
  void a_usage_error_points_to_the_help(
      WrongCommand wrong, @TempDir Path folder, TestDatabase database) throws IOException {
    Terminal.Answer answer = wrong.run(folder, database);
    assertThat(answer.code()).isEqualTo(2);
    assertThat(answer.err()).hasSize(2);
    assertThat(answer.err().getFirst()).startsWith("holdfast: ").containsPattern(wrong.message());
    assertThat(answer.err().getLast()).startsWith("Try 'holdfast").contains("--help");
    assertThat(answer.out()).isEmpty();
  }
}
