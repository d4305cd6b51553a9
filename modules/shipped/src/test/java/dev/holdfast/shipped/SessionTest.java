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

/** A document that is not true is found out, and it is said where and why. */
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
  void what_is_printed_and_not_said_is_shown_beside_what_is_said() {
    assertThatThrownBy(() -> run("```console\n$ echo b\na\n```"))
        .hasMessageContainingAll("a.md:2", "$ echo b", "expected\na\n", "actual\nb\n");
  }

  @Test
  void a_command_that_fails_is_not_true_unless_it_is_meant_to_fail() {
    assertThatThrownBy(() -> run("```console\n$ echo a && false\na\n```"))
        .hasMessageContaining("exit code 1");
    assertThatThrownBy(() -> run("<!-- setup\nfalse\n-->")).hasMessageContaining("exit code 1");
  }

  @Test
  void an_error_that_is_shown_is_one_by_its_exit_code_too() {
    assertThatThrownBy(() -> run("```console\n$ echo 'holdfast: no'\nholdfast: no\n```"))
        .hasMessageContaining("exit code 0");
  }

  @Test
  void nothing_may_be_left_running() throws IOException {
    run("```console\n$ sleep 1000 &\n```");
    assertThatThrownBy(session::end)
        .hasMessageContainingAll("still running at the end", "sleep 1000");
  }

  @Test
  void one_that_ends_before_its_time_is_told_of() throws IOException {
    workerThatEnds();
    assertThatThrownBy(() -> run("```console\n$ worker.sh now\nup\ndown\n```"))
        .hasMessageContaining("it has ended early");
  }

  @Test
  void one_that_has_ended_by_itself_is_told_of_at_the_end() throws IOException {
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
