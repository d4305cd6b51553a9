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

/** Real programs, which do what programs do when they do not want to end. */
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
  void tells_both_streams_and_the_exit_code() throws Exception {
    ProcessTree tree = start("echo one; echo two >&2; printf three; exit 7");
    assertThat(tree.await()).isEqualTo(7);
    assertThat(out).containsExactly("one", "three");
    assertThat(err).containsExactly("two");
  }

  /** Whoever takes them may have to wait for a database. */
  @Test
  void all_that_a_program_said_is_taken_before_it_counts_as_ended() throws Exception {
    pause = Duration.ofMillis(500);
    assertThat(start("for i in 1 2 3 4 5 6; do echo $i; done").await()).isZero();
    assertThat(out).containsExactly("1", "2", "3", "4", "5", "6");
  }

  @Test
  void a_program_sees_its_own_environment_and_nothing_else() throws Exception {
    ProcessTree tree = start("env | grep -v '^_=\\|^PWD=\\|^SHLVL=' | cut -d= -f1 | sort");
    assertThat(tree.await()).isZero();
    assertThat(out).containsExactly("HOLDFAST_MARK", "PATH");
  }

  @Test
  void it_reads_nothing_from_us() throws Exception {
    assertThat(start("cat; echo end").await()).isZero();
    assertThat(out).containsExactly("end");
  }

  @Test
  void arguments_are_never_read_by_a_shell() throws Exception {
    assertThat(start(List.of("echo", "$HOME; `id` $(id)")).await()).isZero();
    assertThat(out).containsExactly("$HOME; `id` $(id)");
  }

  @Test
  void a_missing_program_is_named() {
    assertThatThrownBy(() -> start(List.of("no-such-program")))
        .isInstanceOf(NoSuchProgramException.class)
        .hasMessageContaining("'no-such-program' is not on the PATH");
    assertThatThrownBy(() -> start(List.of("/no/such/program")))
        .hasMessageContaining("/no/such/program does not exist");
  }

  @Test
  void a_file_that_may_not_be_run_is_named() throws IOException {
    Files.writeString(folder.resolve("script.sh"), "echo hello");
    assertThatThrownBy(() -> start(List.of("./script.sh")))
        .isInstanceOf(NoSuchProgramException.class)
        .hasMessageContaining("script.sh is not executable: chmod +x");
  }

  @Test
  void terminate_reaches_the_whole_group() throws Exception {
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
  void what_a_program_leaves_behind_ends_with_it() throws Exception {
    ProcessTree tree = start("sleep 1000 & echo $! > pids; exit 0");
    assertThat(tree.await()).isZero();
    assertThat(pids(1)).noneMatch(Living::is);
  }

  @Test
  void nobody_escapes_by_ignoring_the_signal_a_second_fork_or_a_session_of_his_own()
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

  /** The numbers of processes begin anew now and then; here they do in a namespace of their own. */
  @Test
  void one_whose_number_is_lower_than_its_leaders_is_found() {
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
  void one_who_left_and_keeps_the_pipe_open_does_not_hold_us_up() throws Exception {
    ProcessTree tree =
        start("(setsid sh -c 'echo $$ > pids; while :; do echo x; sleep 0.1; done' &); exit 0");
    pids(1);
    assertThat(tree.await()).isZero();
    assertThat(pids(1)).noneMatch(Living::is);
  }

  /** No environment, no session, no parent: the kernel still knows whose it is. */
  @ParameterizedTest
  @ValueSource(strings = {"setsid", "setsid prlimit --locks=7:", "setsid prlimit --nofile=64"})
  void nobody_escapes_by_clearing_his_environment_as_well(String command) throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/prlimit")), "the limit cannot be set here");
    ProcessTree tree =
        start(
            ("(env -i %s sh -c 'trap \"\" TERM HUP; echo $$ > pids; while :; do sleep 0.1; done'"
                    + " >/dev/null 2>&1 &); until [ -s pids ]; do :; done")
                .formatted(command));
    assertThat(tree.await()).isZero();
    assertThat(pids(1)).noneMatch(Living::is);
  }

  /** Out of session, environment and limit on purpose: nobody knows it any more. */
  @ParameterizedTest
  @ValueSource(strings = {"exec sleep 1000", "while :; do echo x; sleep 0.1; done"})
  void nor_does_one_whom_nobody_can_find(String then) throws Exception {
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
  void another_program_of_ours_is_left_alone() throws Exception {
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
  void an_interrupt_does_not_cut_the_waiting_short_and_is_kept() throws Exception {
    ProcessTree tree = start("sleep 0.3; echo end");
    Thread.currentThread().interrupt();
    assertThat(tree.await()).isZero();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(out).containsExactly("end");
  }

  @Test
  void a_gigabyte_without_a_newline_costs_no_memory() throws Exception {
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
