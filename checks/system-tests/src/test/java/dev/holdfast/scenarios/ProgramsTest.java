package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.Living;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs as holdfast.yaml names them, run by a worker process. */
@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
class ProgramsTest {
  private static final Path EXAMPLES =
      Path.of("..", "..", "examples", "programs", "holdfast.yaml").toAbsolutePath().normalize();

  @Test
  @OnlyWithRelease
  void the_examples_run_unchanged(World world) throws IOException {
    world.worker("--config", EXAMPLES.toString()).env("HOLDFAST_FOLDER", "data").start();
    Path text = Files.writeString(world.folder().resolve("text"), "a rose is\na rose\n");
    JobId words = world.enqueue("wordcount", Map.of("file", text.toString()));
    JobStatus counted = world.await(words, JobState.SUCCEEDED);
    assertThat(String.valueOf(counted.result())).contains("\"words\": 5").contains("[\"a\", 2]");
    assertThat(counted.progress()).isEqualTo(100);

    JobId archive = world.enqueue("archive", Map.of());
    world.await(archive, JobState.SUCCEEDED);
    assertThat(world.folder().resolve("data/results/" + archive + "/archive.tar.gz"))
        .isNotEmptyFile();
    assertThat(world.timeline(archive).types()).endsWith("uploaded", "done");

    Launch.Answer shown = world.launch("jobs", "show", archive.toString()).run();
    assertThat(shown.out())
        .anyMatch(line -> line.contains("results/" + archive + "/archive.tar.gz"));
  }

  @Test
  void programs_of_a_killed_worker_end_even_if_they_detach_or_ignore_signals(World world)
      throws Exception {
    Files.writeString(
        world.folder().resolve("holdfast.yaml"),
        """
        handlers:
          stubborn:
            command: [sh, ./stubborn.sh]
            environment: {PIDS: "%s"}
        """
            .formatted(world.folder().resolve("pids")));
    Files.writeString(
        world.folder().resolve("stubborn.sh"),
        """
        trap '' TERM HUP INT
        echo $$ >> "$PIDS"
        (setsid sh -c 'trap "" TERM; echo $$ >> "$PIDS"; while :; do sleep 0.1; done' &)
        (sh -c 'sh -c "echo \\$\\$ >> \\"$PIDS\\"; exec sleep 1000" &' &)
        while :; do sleep 0.1; done
        """);
    ChildProcess worker = world.worker().start();
    world.enqueue("stubborn", Map.of());
    Eventually.until(SOON, "all three run", () -> pids(world).size() == 3);
    List<Long> pids = pids(world);
    worker.signal("KILL");
    Eventually.until(SOON, "all are gone", () -> pids.stream().noneMatch(Living::is));
  }

  private static List<Long> pids(World world) throws IOException {
    Path pids = world.folder().resolve("pids");
    return Files.exists(pids)
        ? Files.readAllLines(pids).stream().filter(l -> !l.isBlank()).map(Long::valueOf).toList()
        : List.of();
  }

  @Test
  void programs_do_not_see_secrets_in_the_environment_of_their_worker(World world)
      throws IOException {
    Path seen = world.folder().resolve("seen");
    Files.writeString(
        world.folder().resolve("holdfast.yaml"),
        """
        handlers:
          curious:
            command: [sh, -c, 'tr "\\0" "\\n" < /proc/$PPID/environ > %s; cat /proc/$PPID/comm >> %1$s']
        """
            .formatted(seen));
    world.worker().env("A_KEY", "correct-horse").start();
    world.await(world.enqueue("curious", Map.of()), JobState.SUCCEEDED);
    assertThat(Files.readString(seen))
        .contains("PATH=/", "A_KEY=\n", "java\n")
        .doesNotContain("correct-horse", "postgresql:");
  }

  @Test
  @OnlyWithRelease
  void the_scratch_folder_of_a_failed_job_can_be_inspected_and_cleaned_up(World world)
      throws IOException {
    Files.writeString(
        world.folder().resolve("holdfast.yaml"),
        """
        handlers:
          fails:
            command: [sh, -c, "echo work > file; echo went wrong; exit 65"]
        """);
    ChildProcess worker = world.worker().env("HOLDFAST_FOLDER", "data").start();
    JobId job = world.enqueue("fails", Map.of());
    world.await(job, JobState.FAILED);
    worker.awaitLine("scratch .*" + job + "/1 is kept: [0-9]+ bytes", SOON);
    assertThat(scratch(world, "list")).anyMatch(line -> line.contains(job.toString()));
    assertThat(scratch(world, "clean", "--older-than", "1h")).containsExactly("nothing to delete");
    assertThat(scratch(world, "clean", "--older-than", "0s", "--dry-run"))
        .anyMatch(line -> line.startsWith("would delete 1 folder,"));
    Path folder = world.folder().resolve("data/scratch/" + job);
    assertThat(folder.resolve("1/file")).exists();
    assertThat(folder.resolve("1/.holdfast/output.log")).hasContent("went wrong");
    assertThat(scratch(world, "clean", "--older-than", "0s"))
        .anyMatch(line -> line.startsWith("deleted 1 folder,"));
    assertThat(folder).doesNotExist();
    assertThat(scratch(world, "list")).containsExactly("no scratch folders");
  }

  private static List<String> scratch(World world, String... arguments) {
    Launch.Answer answer =
        world.launch("scratch").arguments(arguments).env("HOLDFAST_FOLDER", "data").run();
    assertThat(answer.code()).as(answer.toString()).isZero();
    return answer.out();
  }
}
