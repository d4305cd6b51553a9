package dev.holdfast.testkit;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class ChildProcessTest {
  static final class Echo {
    private Echo() {}

    public static void main(String[] arguments) throws Exception {
      System.out.println("hello " + arguments[0]);
      System.out.println("got " + (char) System.in.read());
      System.exit(7);
    }
  }

  @Test
  void a_main_class_runs_as_a_process() {
    try (ChildProcess child = ChildProcess.java(Echo.class, "world")) {
      assertThat(child.awaitLine("hello (\\w+)", SOON).group(1)).isEqualTo("world");
      child.send("x");
      child.awaitLine("got x", SOON);
      assertThat(child.awaitExit(SOON)).isEqualTo(7);
      assertThat(child.lines()).containsExactly("hello world", "got x");
    }
  }

  @Test
  void waiting_for_a_line_fails_as_soon_as_the_process_ends() {
    try (ChildProcess child = ChildProcess.command("sh", "-c", "echo last words; exit 3")) {
      assertThatThrownBy(() -> child.awaitLine("ready", SOON))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("last words");
      assertThat(child.awaitExit(SOON)).isEqualTo(3);
    }
  }

  @Test
  void signals_are_delivered() {
    try (ChildProcess child =
        ChildProcess.command(
            "sh", "-c", "trap 'echo told; exit 0' TERM; echo up; while :; do sleep 0.05; done")) {
      child.awaitLine("up", SOON);
      child.signal("STOP");
      child.signal("TERM");
      assertThat(child.isAlive()).isTrue();
      child.signal("CONT");
      child.awaitLine("told", SOON);
      assertThat(child.awaitExit(SOON)).isZero();
    }
    try (ChildProcess child = ChildProcess.command("sleep", "60")) {
      child.signal("KILL");
      assertThat(child.awaitExit(SOON)).isEqualTo(128 + 9);
    }
  }

  @Test
  void closing_ends_processes_that_a_killed_process_left_behind() {
    long grandchild;
    try (ChildProcess child = ChildProcess.command("sh", "-c", "sleep 60 & echo $!; wait")) {
      grandchild = Long.parseLong(child.awaitLine("\\d+", SOON).group());
      child.signal("KILL");
      assertThat(child.awaitExit(SOON)).isEqualTo(128 + 9);
      assertThat(alive(grandchild)).isTrue();
    }
    await().atMost(SOON).until(() -> !alive(grandchild));
  }

  private static boolean alive(long pid) {
    Optional<ProcessHandle> process = ProcessHandle.of(pid);
    return process.isPresent() && process.get().isAlive();
  }
}
