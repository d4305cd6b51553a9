package dev.holdfast.scenarios;

import static dev.holdfast.model.EventType.ABORTED_SHUTDOWN;
import static dev.holdfast.model.EventType.CREATED;
import static dev.holdfast.model.EventType.DONE;
import static dev.holdfast.model.EventType.PROCESSING;
import static dev.holdfast.model.EventType.REQUEUED_STALE;
import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.embedded.Running;
import dev.holdfast.model.Job;
import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.TestServer;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast dev} as a person uses it: one folder, several terminals. */
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class DevTest {
  private final Processes processes;
  private final Path folder;

  DevTest(Processes processes) {
    this.processes = processes;
    this.folder = processes.folder().resolve(".holdfast");
  }

  @Test
  void jobs_are_handed_in_listed_and_watched_from_the_same_folder() {
    dev().start();
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
  void what_the_workers_write_comes_after_the_addresses_and_is_all_there() {
    ChildProcess dev = dev().start();
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
  void the_api_is_served_too_and_commands_may_go_through_it() {
    String url = dev().start().awaitLine("page +(http://127.0.0.1:\\d+)", SOON).group(1);
    Launch.Answer enqueued =
        processes.launch("enqueue", "echo", "{\"n\": 7}", "--watch", "--server", url).run();
    assertThat(enqueued.err()).isEmpty();
    assertThat(enqueued.code()).isZero();
    assertThat(enqueued.out().getLast()).contains("SUCCEEDED").contains("\"n\"");
    assertThat(processes.launch("health", "--server", url).run().out()).contains("all is well");
  }

  @Test
  void a_signal_stops_everything_and_leaves_no_process() {
    ChildProcess dev = dev().start();
    Running server = server();
    dev.signal("TERM");
    assertThat(dev.awaitExit(SOON)).isZero();
    assertThat(dev.lines()).endsWith("stopped");
    assertThat(isAlive(server.pid())).isFalse();
    assertThat(
            ProcessHandle.allProcesses()
                .map(process -> process.info().commandLine().orElse(""))
                .filter(command -> command.contains(folder.toString())))
        .isEmpty();
    Launch.Answer listed = processes.launch("jobs", "list").run();
    assertThat(listed.code()).isEqualTo(3);
    assertThat(listed.err()).singleElement().asString().contains("holdfast dev", folder.toString());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void after_a_kill_the_next_dev_has_all_jobs_and_recovers_the_interrupted_one(boolean serverToo) {
    ChildProcess dev = dev().start();
    Running before = server();
    Path gate = processes.folder().resolve("go");
    JobId interrupted;
    JobId waiting;
    try (World world = world(before)) {
      interrupted = world.enqueueHeld("hold", gate);
      dev.awaitLine("began " + interrupted + "#1", SOON);
      waiting = world.holdfast().enqueue(Job.of("clock").delay(Duration.ofHours(1))).id();
    }
    dev.signal("KILL");
    assertThat(dev.awaitExit(SOON)).isEqualTo(137);
    assertThat(isAlive(before.pid())).isTrue();
    if (serverToo) {
      ProcessHandle.of(before.pid()).ifPresent(ProcessHandle::destroyForcibly);
      World.until(SOON, "the server is gone", () -> !isAlive(before.pid()));
    }

    ChildProcess again = dev().start();
    assertThat(server().pid() == before.pid()).isNotEqualTo(serverToo);
    try (World world = world(server())) {
      again.awaitLine("began " + interrupted + "#2", SOON);
      world.open(gate);
      world.await(interrupted, JobState.SUCCEEDED);
      // Its worker noticed and gave it back, unless it could reach the database no more.
      assertThat(world.timeline(interrupted).types())
          .hasSize(5)
          .startsWith(CREATED, PROCESSING)
          .containsAnyOf(ABORTED_SHUTDOWN, REQUEUED_STALE)
          .endsWith(PROCESSING, DONE);
      assertThat(world.status(waiting).state()).isEqualTo(JobState.PENDING);
    }
    again.signal("TERM");
    assertThat(again.awaitExit(SOON)).isZero();
    assertThat(EmbeddedPostgres.find(folder)).isEmpty();
  }

  @Test
  void a_second_dev_in_the_same_folder_is_refused_and_the_first_goes_on() {
    ChildProcess first = dev().start();
    Launch.Answer second = dev().run();
    assertThat(second.code()).isEqualTo(7);
    assertThat(second.out()).isEmpty();
    assertThat(second.err())
        .singleElement()
        .asString()
        .contains(folder.toString(), "pid " + first.pid(), "choose another folder");
    Launch.Answer watched = processes.launch("enqueue", "echo", "1", "--watch").run();
    assertThat(watched.code()).isZero();
    assertThat(first.isAlive()).isTrue();
  }

  private Launch dev() {
    return processes
        .launch("dev")
        .classPath(World.KINDS)
        // The server unpacked already, as the launcher of a checkout has it.
        .property("holdfast.cache", String.valueOf(TestServer.options(folder).cache()))
        .env("HEARTBEAT_INTERVAL_SEC", "1")
        .env("LEASE_TIMEOUT_SEC", Long.toString(World.LEASE.toSeconds()))
        .env("HOLDFAST_STOP_TIMEOUT_SEC", "10");
  }

  private Running server() {
    return EmbeddedPostgres.find(folder).orElseThrow();
  }

  private static World world(Running server) {
    return new World(server.jdbcUrl(), server.user(), server.password());
  }

  private static boolean isAlive(long pid) {
    Optional<ProcessHandle> process = ProcessHandle.of(pid);
    return process.isPresent() && process.get().isAlive();
  }
}
