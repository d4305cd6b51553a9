package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.Script;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs and workspaces that wait, while their workers are killed and others go on. */
@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
class WaitingProgramsTest {
  private static final Path EXAMPLES =
      Path.of("..", "..", "examples", "programs", "holdfast.yaml").toAbsolutePath().normalize();
  private static final Path PAGE = Path.of("src", "test", "resources", "self-heal");

  private static void decide(World world, JobId job, String wait) {
    assertThat(
            world
                .holdfast()
                .jobs()
                .decide(job, wait, new Decision(true, "ada", "fine"), Role.OPERATOR, Tenant.ANY))
        .isEqualTo(Decision.Answer.ACCEPTED);
  }

  private static boolean isGone(World world, String folder, JobId job) {
    return Files.notExists(world.folder().resolve(folder).resolve("scratch/" + job));
  }

  @Test
  void the_example_waits_for_a_person_while_no_worker_lives(World world) throws Exception {
    ChildProcess first =
        world.worker("--config", EXAMPLES.toString()).env("HOLDFAST_FOLDER", "a").start();
    JobId job = world.enqueue("share", Map.of("file", "report.pdf"));
    world.await(job, JobState.WAITING);
    Eventually.until(SOON, "nothing is left", () -> isGone(world, "a", job));
    first.signal("KILL");
    assertThat(first.awaitExit(SOON)).isEqualTo(137);
    decide(world, job, "share");

    world.worker("--config", EXAMPLES.toString()).env("HOLDFAST_FOLDER", "b").start();
    JobStatus done = world.await(job, JobState.SUCCEEDED);
    assertThat(String.valueOf(done.result())).contains("\"shared\": true", "\"by\": \"ada\"");
    assertThat(done.crashes()).isZero();
    assertThat(world.timeline(job).types()).contains("suspended", "resumed");
  }

  @Test
  void a_program_whose_worker_is_killed_after_it_has_asked_asks_again(World world)
      throws Exception {
    Files.writeString(
        world.folder().resolve("holdfast.yaml"),
        """
        handlers:
          asks:
            command: [sh, ./asks.sh]
        """);
    Path gate = world.gate("asked");
    Files.writeString(
        world.folder().resolve("asks.sh"),
        """
        grep -q '"go":{' "$HOLDFAST_JOB" && exit 0
        echo 'holdfast: {"suspend": {"id": "go", "sort": "signal", "signal": "go"}}'
        [ -e %1$s ] || { touch %1$s; sleep 1000; }
        """
            .formatted(gate));
    ChildProcess first = world.worker().start();
    JobId job = world.enqueue("asks", Map.of());
    Eventually.until(SOON, "it has asked", () -> Files.exists(gate));
    first.signal("KILL");
    world.worker().start();
    world.await(job, JobState.WAITING);
    assertThat(world.status(job).crashes()).isEqualTo(1);
    world.holdfast().signal(job, "go", 1);
    world.await(job, JobState.SUCCEEDED);
  }

  @Test
  void a_workspace_that_waits_on_one_machine_goes_on_on_another(World world) throws Exception {
    Path folder = world.folder();
    Files.writeString(
        folder.resolve("holdfast.yaml"),
        """
        runtimes:
          agent:
            command: [./agent.sh]
          tests:
            command: [./check.sh]
        """);
    Script.write(
        folder.resolve("agent.sh"),
        "#!/bin/sh\necho x >> " + folder + "/ran; echo hi > greet.sh\n");
    Script.write(
        folder.resolve("check.sh"),
        "#!/bin/sh\ngrep -q hi greet.sh && grep -q '\"by\":\"ada\"' \"$HOLDFAST_RETRY_CONTEXT\""
            + " && grep -q '\"payload\":\"night\"' \"$HOLDFAST_RETRY_CONTEXT\" || exit 64\n"
            + "[ -e "
            + folder
            + "/checking ] || { touch "
            + folder
            + "/checking; sleep 1000; }\n");
    repository(folder);
    ChildProcess first = world.worker().env("HOLDFAST_FOLDER", "a").start();
    String payload =
        Files.readString(PAGE.resolve("release.json"))
            .replace("https://example.org/greetings.git", folder.resolve("repo").toString());
    JobId job = world.enqueue("workspace", new Json(payload));
    world.await(job, JobState.WAITING);
    Eventually.until(SOON, "nothing is left", () -> isGone(world, "a", job));
    first.signal("KILL");

    decide(world, job, "release");
    ChildProcess second = world.worker().env("HOLDFAST_FOLDER", "b").start();
    Eventually.until(
        SOON,
        "it waits for the signal",
        () -> String.valueOf(world.status(job).waitsFor()).contains("window"));
    world.holdfast().signal(job, "window", "night");
    Eventually.until(SOON, "it checks", () -> Files.exists(folder.resolve("checking")));
    second.signal("KILL");

    world.worker().env("HOLDFAST_FOLDER", "c").start();
    JobStatus done = world.await(job, JobState.SUCCEEDED);
    assertThat(String.valueOf(done.result())).contains("\"steps\": 2", "greet.sh");
    assertThat(Files.readAllLines(folder.resolve("ran"))).as("the agent ran once").hasSize(1);
    assertThat(done.crashes()).isEqualTo(1);
  }

  private static void repository(Path folder) throws Exception {
    Process git =
        new ProcessBuilder(
                List.of(
                    "sh",
                    "-ec",
                    "git init -q -b main repo; cd repo; echo start > log; git add -A;"
                        + " git -c user.name=t -c user.email=t@localhost commit -q -m start"))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(git.waitFor()).as(said).isZero();
  }
}
