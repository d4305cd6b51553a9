package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.AssembledProgram;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What a person does while {@code holdfast dev} runs, in the same folder. */
@OnlyWithRelease
@Execution(ExecutionMode.CONCURRENT)
class RunningDevTest {
  private static final Processes processes = new Processes();
  private static ChildProcess dev = null;

  @BeforeAll
  static void start() {
    AssembledProgram.prepare();
    dev = DevTest.dev(processes).start();
  }

  @AfterAll
  static void stop() {
    processes.close();
  }

  @Test
  void jobs_are_enqueued_listed_and_watched_from_the_same_folder() {
    Launch.Answer enqueued = processes.launch("enqueue", "echo", "{\"n\": 1}").run();
    assertThat(enqueued.code()).isZero();
    String id = JobId.parse(enqueued.out().getFirst()).toString();

    Launch.Answer watched = processes.launch("jobs", "watch", id).run();
    assertThat(watched.code()).isZero();
    assertThat(watched.out().getLast()).startsWith(id + " SUCCEEDED").contains("\"n\": 1");
    Launch.Answer listed = processes.launch("jobs", "list").run();
    assertThat(listed.code()).isZero();
    assertThat(listed.out()).anyMatch(line -> line.contains(id) && line.contains("SUCCEEDED"));
    Launch.Answer failed =
        processes.launch("enqueue", "fail", "{\"category\": \"DATA_QUALITY\"}", "--watch").run();
    assertThat(failed.code()).isEqualTo(8);
    assertThat(failed.out().getLast()).contains("FAILED: EXAMPLE");
  }

  @Test
  void output_of_the_workers_is_complete_and_follows_the_addresses() {
    // It is healthy before it says so: 'ready in' may be printed before.
    dev.awaitLine("^worker:default:0 \\| ready: ", SOON);
    List<String> lines = dev.lines();
    int tried = first(lines, "            ./holdfast demo");
    assertThat(tried)
        .isGreaterThan(first(lines, "  page "))
        .isLessThan(first(lines, "ready in "))
        .isLessThan(first(lines, "worker:default:0 | "));
  }

  private static int first(List<String> lines, String beginning) {
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).startsWith(beginning)) {
        return i;
      }
    }
    throw new AssertionError("no line begins with '" + beginning + "': " + lines);
  }

  @Test
  void the_api_is_served_and_commands_can_use_it() {
    String url = dev.awaitLine("page +(http://127.0.0.1:\\d+)", SOON).group(1);
    Launch.Answer enqueued =
        processes.launch("enqueue", "echo", "{\"n\": 7}", "--watch", "--server", url).run();
    assertThat(enqueued.err()).isEmpty();
    assertThat(enqueued.code()).isZero();
    assertThat(enqueued.out().getLast()).contains("SUCCEEDED").contains("\"n\"");
    assertThat(processes.launch("health", "--server", url).run().out()).contains("all is well");
  }

  @Test
  void a_second_dev_in_the_same_folder_is_rejected_and_the_first_continues() {
    Launch.Answer second = DevTest.dev(processes).run();
    assertThat(second.code()).isEqualTo(7);
    assertThat(second.out()).isEmpty();
    assertThat(second.err())
        .singleElement()
        .asString()
        .contains(
            processes.folder().resolve(".holdfast").toString(),
            "pid " + dev.pid(),
            "choose another folder");
    Launch.Answer watched = processes.launch("enqueue", "echo", "1", "--watch").run();
    assertThat(watched.code()).isZero();
    assertThat(dev.isAlive()).isTrue();
  }
}
