package dev.holdfast.process;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Living;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real programs that try not to be ended. */
class ProcessTreeTest {
  @TempDir Path folder;
  private final List<String> out = Collections.synchronizedList(new ArrayList<>());
  private final List<String> err = Collections.synchronizedList(new ArrayList<>());
  private Duration pause = Duration.ZERO;

  private ProcessTree start(String script) throws Exception {
    return start(List.of("sh", "-c", script));
  }

  private ProcessTree start(List<String> arguments) throws Exception {
    return ProcessTree.start(
        new Command(arguments, folder, Map.of("PATH", System.getenv("PATH"))),
        1_000,
        (line, cut) -> {
          LockSupport.parkNanos(pause.toNanos());
          out.add(line);
        },
        (line, cut) -> err.add(line));
  }

  /** Waits until the script has written its children's pids. */
  private List<Long> pids(int count) throws IOException {
    await()
        .atMost(SOON)
        .until(
            () -> read("pids").size() == count && read("pids").stream().noneMatch(String::isBlank));
    return read("pids").stream().map(Long::valueOf).toList();
  }

  private List<String> read(String file) throws IOException {
    Path path = folder.resolve(file);
    return Files.exists(path) ? Files.readAllLines(path) : List.of();
  }

  @Test
  void reads_both_streams_and_returns_the_exit_code() throws Exception {
    ProcessTree tree = start("echo one; echo two >&2; printf three; exit 7");
    assertThat(tree.await()).isEqualTo(7);
    assertThat(out).containsExactly("one", "three");
    assertThat(err).containsExactly("two");
  }

  /** The listener of the lines may be slow, since it may wait for a database. */
  @Test
  void all_output_is_read_before_await_returns() throws Exception {
    pause = Duration.ofMillis(500);
    assertThat(start("for i in 1 2 3 4 5 6; do echo $i; done").await()).isZero();
    assertThat(out).containsExactly("1", "2", "3", "4", "5", "6");
  }

  @Test
  void a_program_gets_only_the_given_environment() throws Exception {
    ProcessTree tree = start("env | grep -v '^_=\\|^PWD=\\|^SHLVL=' | cut -d= -f1 | sort");
    assertThat(tree.await()).isZero();
    assertThat(out).containsExactly("HOLDFAST_MARK", "PATH");
  }

  @Test
  void standard_input_is_empty() throws Exception {
    assertThat(start("cat; echo end").await()).isZero();
    assertThat(out).containsExactly("end");
  }

  @Test
  void arguments_are_not_interpreted_by_a_shell() throws Exception {
    assertThat(start(List.of("echo", "$HOME; `id` $(id)")).await()).isZero();
    assertThat(out).containsExactly("$HOME; `id` $(id)");
  }

  @Test
  void a_missing_program_is_reported_by_name() {
    assertThatThrownBy(() -> start(List.of("no-such-program")))
        .isInstanceOf(NoSuchProgramException.class)
        .hasMessageContaining("'no-such-program' is not on the PATH");
    assertThatThrownBy(() -> start(List.of("/no/such/program")))
        .hasMessageContaining("/no/such/program does not exist");
  }

  @Test
  void a_file_that_is_not_executable_is_reported_by_name() throws IOException {
    Files.writeString(folder.resolve("script.sh"), "echo hello");
    assertThatThrownBy(() -> start(List.of("./script.sh")))
        .isInstanceOf(NoSuchProgramException.class)
        .hasMessageContaining("script.sh is not executable: chmod +x");
  }

  @Test
  void terminate_signals_the_whole_process_group() throws Exception {
    ProcessTree tree =
        start(
            "sh -c 'trap \"echo child; exit 0\" TERM; echo $$ >> pids; while :; do sleep 0.1; done' &"
                + " trap 'wait; echo parent; exit 3' TERM; echo $$ >> pids; while :; do sleep 0.1; done");
    List<Long> pids = pids(2);
    tree.terminate();
    assertThat(tree.await()).isEqualTo(3);
    assertThat(out).containsExactlyInAnyOrder("child", "parent");
    assertThat(pids).noneMatch(Living::is);
  }

  @Test
  void processes_left_behind_by_a_program_end_with_it() throws Exception {
    ProcessTree tree = start("sleep 1000 & echo $! > pids; exit 0");
    assertThat(tree.await()).isZero();
    assertThat(pids(1)).noneMatch(Living::is);
  }

  @Test
  void no_process_escapes_by_ignoring_signals_forking_twice_or_a_session_of_its_own()
      throws Exception {
    ProcessTree tree =
        start(
            "trap '' TERM; echo $$ >> pids;"
                + " (setsid sh -c 'trap \"\" TERM HUP; echo $$ >> pids; while :; do sleep 0.1; done' &) ;"
                + " (sh -c 'sh -c \"echo \\$\\$ >> pids; exec sleep 1000\" &' &) ;"
                + " while :; do sleep 0.1; done");
    List<Long> pids = pids(3);
    tree.terminate();
    assertThat(tree.isAlive()).isTrue();
    assertThat(tree.kill()).isTrue();
    assertThat(pids).noneMatch(Living::is);
    assertThat(tree.await()).isEqualTo(137);
  }

  @Test
  void a_child_without_environment_is_found_by_its_session() throws Exception {
    ProcessTree tree = start("env -i sleep 1000 & echo $! > pids; exit 0");
    assertThat(tree.await()).isZero();
    assertThat(pids(1)).noneMatch(Living::is);
  }

  /** Process ids wrap around now and then; here they do in a separate PID namespace. */
  @Test
  void a_child_with_a_pid_lower_than_its_leaders_is_found() {
    List<String> command = new ArrayList<>();
    Collections.addAll(command, "unshare", "--pid", "--fork", "--mount-proc", "sh", "-c");
    Collections.addAll(
        command, "echo 20000 >/proc/sys/kernel/ns_last_pid && exec \"$@\" || exit 1", "sh");
    ProcessBuilder programs =
        ChildProcess.javaCommand(
            StartsAndWaits.class.getName(),
            List.of(),
            folder.toString(),
            """
            echo $$ >leader
            echo 300 >/proc/sys/kernel/ns_last_pid
            setsid sh -c 'echo $$ >left; exec sleep 1000' &
            until [ -s left ]; do :; done
            """,
            """
            [ "$(cat left)" -lt "$(cat leader)" ] || exit 2
            if grep '^State:.*sleeping' "/proc/$(cat left)/status"; then exit 3; fi
            """);
    command.addAll(programs.command());
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    try (ChildProcess apart = ChildProcess.start(builder)) {
      int exit = apart.awaitExit(SOON);
      assumeTrue(exit != 1, () -> "may not make a namespace: " + apart.lines());
      assertThat(exit).as("%s", apart.lines()).isZero();
    }
  }

  @Test
  void a_child_that_keeps_the_pipe_open_is_killed_and_does_not_delay_await() throws Exception {
    ProcessTree tree =
        start("(setsid sh -c 'echo $$ > pids; while :; do echo x; sleep 0.1; done' &); exit 0");
    pids(1);
    assertThat(tree.await()).isZero();
    assertThat(pids(1)).noneMatch(Living::is);
  }

  /** No environment, no session, no parent: its resource limit still identifies it. */
  @ParameterizedTest
  @ValueSource(strings = {"setsid", "setsid prlimit --locks=7:", "setsid prlimit --nofile=64"})
  void no_process_escapes_by_clearing_its_environment_as_well(String command) throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/prlimit")), "the limit cannot be set here");
    ProcessTree tree =
        start(
            ("(env -i %s sh -c 'trap \"\" TERM HUP; echo $$ > pids; while :; do sleep 0.1; done'"
                    + " >/dev/null 2>&1 &); until [ -s pids ]; do :; done")
                .formatted(command));
    assertThat(tree.await()).isZero();
    assertThat(pids(1)).noneMatch(Living::is);
  }

  /** It left session, environment and resource limit on purpose, so no marker identifies it. */
  @ParameterizedTest
  @ValueSource(strings = {"exec sleep 1000", "while :; do echo x; sleep 0.1; done"})
  void a_child_that_cannot_be_found_does_not_delay_await(String then) throws Exception {
    ProcessTree tree =
        start(
            "(env -i setsid prlimit --locks=7 sh -c 'echo $$ > pids; "
                + then
                + "' &); until [ -s pids ]; do :; done; echo end");
    assertThat(tree.await()).isZero();
    assertThat(out).contains("end");
    ProcessHandle escaped = ProcessHandle.of(pids(1).getFirst()).orElseThrow();
    assertThat(escaped.destroyForcibly()).isTrue();
  }

  @Test
  void another_program_is_not_killed() throws Exception {
    ProcessTree other = start("echo $$ > pids; exec sleep 1000");
    long pid = pids(1).getFirst();
    ProcessTree tree = start("exec sleep 1000");
    tree.kill();
    assertThat(tree.await()).isEqualTo(137);
    assertThat(Living.is(pid)).isTrue();
    other.kill();
    other.await();
  }

  @Test
  void an_interrupt_does_not_end_await_early_and_is_kept() throws Exception {
    ProcessTree tree = start("sleep 0.3; echo end");
    Thread.currentThread().interrupt();
    assertThat(tree.await()).isZero();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(out).containsExactly("end");
  }

  @Test
  void a_gigabyte_without_a_newline_uses_bounded_memory() throws Exception {
    List<Long> cuts = Collections.synchronizedList(new ArrayList<>());
    ProcessTree tree =
        ProcessTree.start(
            new Command(
                List.of("head", "-c", "1G", "/dev/zero"),
                folder,
                Map.of("PATH", Objects.requireNonNull(System.getenv("PATH")))),
            1_000,
            (line, cut) -> {
              assertThat(line).hasSize(1_000);
              cuts.add(cut);
            },
            (line, cut) -> {});
    assertThat(tree.await()).isZero();
    assertThat(cuts).containsExactly((1L << 30) - 1_000);
  }
}
