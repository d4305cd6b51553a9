package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.Markdown;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@code holdfast dev --with}: programs that run beside it and end with it. */
@OnlyWithAll
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class DevWithTest {
  private static final Path PYTHON = Markdown.ROOT.resolve("sdk/python");

  private final Processes processes;

  DevWithTest(Processes processes) {
    this.processes = processes;
  }

  @Test
  void a_python_worker_runs_jobs_and_ends_with_dev_as_do_orphaned_processes() {
    assumeTrue(hasPython(), "Python 3.10 or later is not installed");
    String worker =
        "PYTHONPATH='%s' exec python3 '%s'"
            .formatted(PYTHON.resolve("src"), PYTHON.resolve("examples/worker.py"));
    // The second program exits at once and is reported; its background process is ended.
    String left =
        "sleep 987654 & echo $! >pid; echo \"at $HOLDFAST_SERVER_URL\"; sleep 0.1; exit 3";
    ChildProcess dev = DevTest.dev(processes).arguments("--with", worker, "--with", left).start();
    String url = dev.awaitLine("page +(http://127.0.0.1:\\d+)", SOON).group(1);
    dev.awaitLine("^with:1 \\| at " + url + "$", SOON);
    dev.awaitLine("^with:1 \\| --- exited with 3", SOON);
    dev.awaitLine("^with:0 \\| .* serves media at " + url, SOON);

    Launch.Answer watched =
        processes
            .launch("enqueue", "resize", "{\"width\": 640}", "--queue", "media", "--watch")
            .run();
    assertThat(watched.out().getLast()).contains("SUCCEEDED").contains("\"width\": 640");

    dev.signal("TERM");
    assertThat(dev.awaitExit(SOON)).as("%s", dev.lines()).isZero();
    assertThat(dev.lines()).endsWith("stopped").anyMatch(line -> line.endsWith("has stopped"));
    assertThat(living("sleep 987654")).isEmpty();
    assertThat(living("sdk/python/examples/worker.py")).isEmpty();
  }

  @Test
  @OnlyWithRelease
  void where_keys_are_required_a_program_gets_one_that_is_revoked_at_the_end() throws Exception {
    ChildProcess first = DevTest.dev(processes).start();
    Launch.Answer made = processes.launch("keys", "create", "--role", "admin").run();
    assertThat(made.code()).isZero();
    first.signal("TERM");
    assertThat(first.awaitExit(SOON)).isZero();

    String say = "echo $HOLDFAST_SERVER_API_KEY >key; exec sleep 600";
    ChildProcess dev = DevTest.dev(processes).arguments("--with", say).start();
    Path key = processes.folder().resolve("key");
    Eventually.until(SOON, "the key", () -> Files.exists(key) && Files.size(key) > 1);
    assertThat(Files.readString(key).strip()).isNotEqualTo(made.out().getFirst());
    assertThat(keys()).anyMatch(line -> line.contains("dev --with") && line.contains("good"));
    dev.signal("TERM");
    assertThat(dev.awaitExit(SOON)).isZero();

    ChildProcess again = DevTest.dev(processes).start();
    assertThat(keys()).anyMatch(line -> line.contains("dev --with") && line.contains("revoked"));
    again.signal("TERM");
    assertThat(again.awaitExit(SOON)).isZero();
  }

  private List<String> keys() {
    return processes.launch("keys", "list").run().out();
  }

  /** Of this test: others may run the same programs. */
  private List<String> living(String command) {
    return ProcessHandle.allProcesses()
        .filter(process -> process.info().commandLine().orElse("").contains(command))
        .filter(process -> folder(process.pid()).equals(processes.folder().toString()))
        .map(process -> process.info().commandLine().orElse(""))
        .toList();
  }

  private static String folder(long pid) {
    try {
      return Files.readSymbolicLink(Path.of("/proc", Long.toString(pid), "cwd")).toString();
    } catch (IOException e) {
      return "";
    }
  }

  private static boolean hasPython() {
    try (ChildProcess python =
        ChildProcess.command(
            "sh", "-c", "python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'")) {
      return python.awaitExit(SOON) == 0;
    }
  }
}
