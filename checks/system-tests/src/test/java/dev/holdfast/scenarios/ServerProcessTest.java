package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@code holdfast server} as a process, commands that go through it, and a worker made of curl. */
@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class ServerProcessTest {
  private static final Path WORKER =
      Path.of("..", "..", "examples", "curl", "worker.sh").toAbsolutePath().normalize();

  private final World world;

  ServerProcessTest(World world) {
    this.world = world;
  }

  private ChildProcess server() {
    return world
        .launch("server")
        .env("HEARTBEAT_INTERVAL_MS", "1000")
        .env("HEARTBEAT_TIMEOUT_MS", "20000")
        .start();
  }

  private static String url(ChildProcess server) {
    return server.awaitLine("^ready: .* at (http://127.0.0.1:\\d+)", SOON).group(1);
  }

  /** With a command of a shell, in the folder of the test. */
  private ChildProcess curlWorker(String url, int tasks, String command) {
    assumeTrue(isInstalled("curl"), "curl is not installed (on Debian: apt-get install curl)");
    ProcessBuilder builder =
        new ProcessBuilder("sh", WORKER.toString(), "shell", "sh", "-c", command)
            .directory(world.folder().toFile());
    builder.environment().put("SERVER_URL", url);
    builder.environment().put("TASKS", Integer.toString(tasks));
    return ChildProcess.start(builder);
  }

  private static boolean isInstalled(String program) {
    try (ChildProcess found = ChildProcess.command("sh", "-c", "command -v " + program)) {
      return found.awaitExit(SOON) == 0;
    }
  }

  private JobId enqueue(String payload) {
    return world.holdfast().enqueue(Job.of("shell", new Json(payload)).queue("shell")).id();
  }

  @Test
  @OnlyWithRelease
  void a_worker_of_sh_and_curl_runs_a_job_from_its_lease_to_its_completion() {
    String hostile =
        "{\"text\": \"a \\\"quoted\\\" \\\\ and ü\", \"kind\": \"x\", \"payload\": {\"resources\": {}}}";
    String command =
        "echo 'progress 40 half \"of\" it' >&2; cat; until [ -e go ]; do sleep 0.1; done";
    try (ChildProcess worker = curlWorker(url(server()), 1, command)) {
      worker.awaitLine("serves shell", SOON);
      JobId job = enqueue(hostile);
      Eventually.until(SOON, "progress", () -> Objects.equals(world.status(job).progress(), 40));
      assertThat(world.status(job).progressMessage()).startsWith("half \"of\" it");
      world.open(world.gate("go"));
      JobStatus done = world.await(job, JobState.SUCCEEDED);
      assertThat(done.attempt()).isEqualTo(1);
      assertThat(done.result()).isEqualTo(done.payload());
      assertThat(done.worker()).startsWith("curl-");
      assertThat(worker.awaitExit(SOON)).isZero();
    }
  }

  @Test
  @OnlyWithRelease
  void a_worker_of_sh_and_curl_reports_failures_and_receives_cancels() {
    String url = url(server());
    // Says what it does not like about the first one, and never ends by itself with the second.
    String command = "grep -q bad && { echo 'no \"good\"' >&2; exit 65; }; exec sleep 600";
    try (ChildProcess worker = curlWorker(url, 2, command)) {
      JobId bad = enqueue("{\"is\": \"bad\"}");
      JobStatus failed = world.await(bad, JobState.FAILED);
      assertThat(Objects.requireNonNull(failed.failure()).category())
          .isEqualTo(FailureCategory.DATA_QUALITY);
      assertThat(failed.failure().message()).contains("exit 65").contains("no \"good\"");

      JobId endless = enqueue("{}");
      world.await(endless, JobState.RUNNING);
      Launch.Answer cancelled =
          world.launch("jobs", "cancel", endless.toString(), "--server", url).run();
      assertThat(cancelled.code()).isZero();
      world.await(endless, JobState.CANCELLED);
      assertThat(worker.awaitExit(SOON)).isZero();
    }
  }

  @Test
  void the_java_worker_runs_jobs_through_the_server_and_releases_unfinished_ones() {
    String url = url(server());
    ChildProcess worker =
        world.worker("--server", url, "--examples").env("SHUTDOWN_TIMEOUT_SEC", "0.2").start();
    JobId quick = world.enqueue("echo", Map.of("n", 1));
    assertThat(world.await(quick, JobState.SUCCEEDED).result()).isEqualTo(new Json("{\"n\": 1}"));
    JobId slow = world.enqueue("sleep", Map.of("seconds", 600));
    world.await(slow, JobState.RUNNING);
    worker.signal("TERM");
    assertThat(worker.awaitExit(SOON)).isZero();
    assertThat(world.status(slow).state()).isEqualTo(JobState.PENDING);
    assertThat(world.status(slow).crashes()).isZero();
  }

  @Test
  @OnlyWithRelease
  void a_signal_stops_the_server_while_long_polls_wait() {
    ChildProcess server = server();
    String url = url(server);
    try (ChildProcess worker = curlWorker(url, 1, "cat")) {
      worker.awaitLine("serves shell", SOON);
      server.signal("TERM");
      assertThat(server.awaitExit(SOON)).isZero();
      assertThat(server.lines()).endsWith("stopped").noneMatch(line -> line.contains("ERROR"));
      Launch.Answer refused = world.launch("jobs", "list", "--server", url).run();
      assertThat(refused.code()).isEqualTo(3);
      assertThat(refused.err()).singleElement().asString().contains("does not answer");
    }
  }

  @Test
  @OnlyWithRelease
  void once_a_key_exists_commands_require_one() throws IOException {
    String url = url(server());
    Launch.Answer made = world.launch("keys", "create", "--role", "admin", "--server", url).run();
    assertThat(made.code()).isZero();
    Path file = Files.write(world.folder().resolve("admin.key"), made.out());

    Launch.Answer without = world.launch("jobs", "list", "--server", url).run();
    assertThat(without.code()).isEqualTo(10);
    assertThat(without.err()).singleElement().asString().contains("wants an API key");
    Launch.Answer with =
        world.launch("jobs", "list", "--server", url, "--api-key-file", file.toString()).run();
    assertThat(with.code()).isZero();
    assertThat(
            world
                .launch("stats")
                .env("HOLDFAST_SERVER_URL", url)
                .env("HOLDFAST_SERVER_API_KEY", made.out().getFirst())
                .run()
                .code())
        .isZero();
  }
}
