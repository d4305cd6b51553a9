package dev.holdfast.workspace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.JacksonCodec;
import dev.holdfast.LibraryTest;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.workspace.git.Git;
import dev.holdfast.workspace.git.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A repository, a worker whose runtimes are shell scripts, and helper methods. */
abstract class WorkspaceFixture extends LibraryTest {
  static final Duration LONG = Duration.ofMinutes(1);
  static final String SECRET = "correct-horse-battery-9";

  @TempDir Path folder;
  final Map<String, String> runtimes = new HashMap<>();
  final List<String> known = new ArrayList<>(List.of(SECRET));
  int patchBytes = Workspace.PATCH_BYTES;
  Budgets budgets = new Budgets(3, LONG, LONG, 2, 1);

  @BeforeEach
  void makeRepository() throws Exception {
    sh(
        """
        git init -q -b main repo; cd repo
        git config user.name t; git config user.email t@localhost
        printf 'one\\n' > a.txt; mkdir src; printf 'two\\n' > src/b.txt
        git add -A; git commit -q -m start
        """);
  }

  String sh(String script) throws Exception {
    Process process =
        new ProcessBuilder("/bin/sh", "-ec", script)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said.strip();
  }

  /** Steps named by their runtimes, which are shell scripts; {@code $MARKS} is a folder. */
  JobId enqueued(String... steps) {
    return enqueue(
        Job.of(
            "workspace",
            new WorkspaceJob(
                "make it better",
                new WorkspaceJob.Source(folder.resolve("repo").toString(), "main"),
                Arrays.stream(steps)
                    .map(name -> new WorkspaceJob.Task(name, "Step " + name, "do " + name, name))
                    .toList(),
                List.of("touch nothing else"),
                null)));
  }

  void working() {
    Map<String, RuntimeCommand> commands = new HashMap<>();
    runtimes.forEach(
        (name, script) ->
            commands.put(
                name,
                new RuntimeCommand(
                    List.of("/bin/sh", "-ec", script),
                    Map.of("MARKS", folder.toString(), "API_TOKEN", SECRET))));
    start(
        worker()
            .timings(
                new Timings(
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(30),
                    Duration.ZERO,
                    Duration.ofSeconds(2)))
            .scratch(new Scratch(folder.resolve("scratch"), true))
            .artifacts(new FolderStore(folder.resolve("artifacts")))
            .budgets(budgets)
            .redact(Scrubber.knowing(known)::scrub)
            .handle(
                new Workspaces(commands, folder.resolve("cache"), Map.of(), Git.TIMEOUT, patchBytes)
                    .kind(new JacksonCodec(), Scrubber.knowing(known))
                    .retry(AT_ONCE)));
  }

  String data(JobId id, String type) {
    return holdfast.queries().timeline(id).stream()
        .filter(event -> event.type().equals(type))
        .map(JobEvent::data)
        .map(Json::text)
        .reduce((first, last) -> last)
        .orElse("none");
  }

  String patch(JobId id, String step) {
    return new String(holdfast.queries().patch(id, step).orElseThrow().bytes(), UTF_8);
  }

  String checkpoint(JobId id, String step) {
    return String.valueOf(holdfast.queries().step(id, step).orElseThrow().checkpoint());
  }

  Path scratch(JobId id, int attempt) {
    return folder.resolve("scratch").resolve(id.toString()).resolve(Integer.toString(attempt));
  }

  /** Waits, since the process that adopts an orphan may take a moment to reap it. */
  void assertGone(String file) throws IOException {
    long pid = Long.parseLong(Files.readString(folder.resolve(file)).strip());
    until(() -> ProcessHandle.of(pid).isEmpty());
  }
}
