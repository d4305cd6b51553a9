package dev.holdfast.scenarios;

import static dev.holdfast.model.job.EventType.ABORTED_SHUTDOWN;
import static dev.holdfast.model.job.EventType.CREATED;
import static dev.holdfast.model.job.EventType.DONE;
import static dev.holdfast.model.job.EventType.PROCESSING;
import static dev.holdfast.model.job.EventType.REQUEUED_STALE;
import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.embedded.Running;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestServer;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How {@code holdfast dev} ends, and what the next one in its folder finds. */
@OnlyWithRelease
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

  static Stream<Boolean> whetherTheServerIsKilledToo() {
    return Extent.isRelease() ? Stream.of(false, true) : Stream.of(true);
  }

  @ParameterizedTest
  @MethodSource("whetherTheServerIsKilledToo")
  void after_a_kill_the_next_dev_keeps_all_jobs_and_recovers_the_interrupted_one(
      boolean serverToo) {
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
      Eventually.until(SOON, "the server is gone", () -> !isAlive(before.pid()));
    }

    ChildProcess again = dev().start();
    assertThat(server().pid() == before.pid()).isNotEqualTo(serverToo);
    try (World world = world(server())) {
      again.awaitLine("began " + interrupted + "#2", SOON);
      world.open(gate);
      world.await(interrupted, JobState.SUCCEEDED);
      // Its worker noticed and released it, unless the database was already unreachable.
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

  private Launch dev() {
    return dev(processes);
  }

  static Launch dev(Processes processes) {
    Path folder = processes.folder().resolve(".holdfast");
    return processes
        .launch("dev")
        .classPath(World.KINDS)
        // The server unpacked already, as the launcher of a checkout has it.
        .property("holdfast.cache", String.valueOf(TestServer.options(folder).cache()))
        .env("HEARTBEAT_INTERVAL_SEC", "1")
        .env("LEASE_TIMEOUT_SEC", Long.toString(World.LEASE.toSeconds()))
        .env("HOLDFAST_SUPERVISOR_STOP_TIMEOUT", "10s");
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
