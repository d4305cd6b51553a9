package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A document that differs from the actual output is reported with the place and the difference. */
class SessionTest {
  private final Path place;
  private final Session session;

  SessionTest(@TempDir Path folder) throws IOException {
    place = folder.resolve("place");
    Path clone = Files.createDirectories(folder.resolve("clone"));
    Files.writeString(clone.resolve("hello.txt"), "hello\n");
    session = new Session("a.md", clone, place);
  }

  @BeforeEach
  void whatIsTrue() throws IOException {
    run(
        """
        <!-- setup
        NAME=Ada
        -->
        ```console
        $ cat hello.txt && echo "$NAME"
        hello
        Ada
        $ echo 'holdfast: no' && false
        holdfast: no
        ```
        """);
  }

  @AfterEach
  void close() {
    session.close();
  }

  private void run(String text) throws IOException {
    for (Document.Step step : Document.parse("a.md", text.lines().toList()).steps()) {
      session.run((Document.Command) step);
    }
  }

  @Test
  void a_mismatch_shows_expected_and_actual_output() {
    assertThatThrownBy(() -> run("```console\n$ echo b\na\n```"))
        .hasMessageContainingAll("a.md:2", "$ echo b", "expected\na\n", "actual\nb\n");
  }

  @Test
  void a_failing_command_is_an_error_unless_a_failure_is_expected() {
    assertThatThrownBy(() -> run("```console\n$ echo a && false\na\n```"))
        .hasMessageContaining("exit code 1");
    assertThatThrownBy(() -> run("<!-- setup\nfalse\n-->")).hasMessageContaining("exit code 1");
  }

  @Test
  void a_command_with_an_expected_error_must_exit_with_an_error_code() {
    assertThatThrownBy(() -> run("```console\n$ echo 'holdfast: no'\nholdfast: no\n```"))
        .hasMessageContaining("exit code 0");
  }

  @Test
  void a_command_left_running_is_an_error() throws IOException {
    run("```console\n$ sleep 1000 &\n```");
    assertThatThrownBy(session::end)
        .hasMessageContainingAll("still running at the end", "sleep 1000");
  }

  @Test
  void a_background_command_that_ends_early_is_reported() throws IOException {
    workerThatEnds();
    assertThatThrownBy(() -> run("```console\n$ worker.sh now\nup\ndown\n```"))
        .hasMessageContaining("it has ended early");
  }

  @Test
  void a_background_command_that_ended_by_itself_is_reported_at_the_end() throws IOException {
    workerThatEnds();
    run("```console\n$ worker.sh now\nup\n$ sleep 1000 & kill $!\n```");
    Awaitility.await()
        .atMost(SOON)
        .untilAsserted(
            () -> assertThat(place.resolve("commands")).isDirectoryContaining("glob:**.exit"));
    assertThatThrownBy(session::end)
        .hasMessageContainingAll("'worker.sh now' has ended by itself", "up");
  }

  private void workerThatEnds() throws IOException {
    Files.writeString(place.resolve("bin/worker.sh"), "#!/bin/sh\necho up\n");
    place.resolve("bin/worker.sh").toFile().setExecutable(true);
  }
}
