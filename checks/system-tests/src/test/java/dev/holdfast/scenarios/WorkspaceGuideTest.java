package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.Script;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The settings and the job that docs/self-heal.md shows, run by a worker process. */
@OnlyWithRelease
@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class WorkspaceGuideTest {
  private static final Path PAGE = Path.of("src", "test", "resources", "self-heal");
  private static final String TOKEN = "correct-horse-battery-9";

  @Test
  void the_job_of_the_page_succeeds_with_the_runtimes_of_the_page(World world) throws Exception {
    Path folder = world.folder();
    Files.copy(PAGE.resolve("holdfast.yaml"), folder.resolve("holdfast.yaml"));
    Script.write(
        folder.resolve("agent.sh"),
        """
        #!/bin/sh
        echo "$1 $HTTPS_PROXY $API_TOKEN ${OTHER:-nothing}"
        [ "$API_TOKEN" = %s ] || exit 64
        grep -q 'POSIX shell only' "$HOLDFAST_RETRY_CONTEXT" || exit 64
        echo hello > greet.sh
        """
            .formatted(TOKEN));
    Files.writeString(folder.resolve("check.sh"), "cat greet.sh\n");
    repository(folder);
    world
        .worker()
        .env("HOLDFAST_FOLDER", "data")
        .env("HTTPS_PROXY", "http://proxy.test:3128")
        .env("API_TOKEN", TOKEN)
        .env("OTHER", "not passed")
        .start();
    String payload =
        Files.readString(PAGE.resolve("job.json"))
            .replace("https://example.org/greetings.git", folder.resolve("repo").toString());
    JobId id = world.enqueue("workspace", new Json(payload));
    assertThat(String.valueOf(world.await(id, JobState.SUCCEEDED).result()))
        .contains("\"steps\": 2", "greet.sh");

    List<String> log =
        world.holdfast().queries().log(id, LogCursor.START).parts().stream()
            .flatMap(part -> part.text().lines())
            .toList();
    assertThat(log).contains("hello");
    assertThat(log)
        .filteredOn(line -> line.startsWith("--quiet"))
        .singleElement(InstanceOfAssertFactories.STRING)
        .startsWith("--quiet http://proxy.test:3128 ")
        .endsWith(" nothing")
        .doesNotContain(TOKEN);
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
