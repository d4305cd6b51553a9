package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.scenarios.UserProjects.Shown;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.program.AssembledProgram;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** examples/onboarding from the first command of its README to the last. */
@Durable
@OnlyWithRelease
@ExtendWith(WorldExtension.class)
class OnboardingTest {
  private static final String README = "examples/onboarding/README.md";
  private static final String ID = "01a1f4e3-056b-7314-a9af-86a6c7672c00";

  /** A first run may have to download plugins, on a machine that has other builds to do. */
  private static final Duration FIRST_RUN = Duration.ofMinutes(10);

  private final Processes processes;
  private final UserProjects projects;

  OnboardingTest(Processes processes) throws IOException {
    this.processes = processes;
    this.projects = new UserProjects(processes.folder());
  }

  @Test
  void the_example_is_tested_and_run_as_its_document_says(TestDatabase databases) throws Exception {
    List<Shown> shown = UserProjects.shown(README, OnboardingTest.class);
    assertThat(shown)
        .extracting(each -> each.command().split(" ")[0])
        .containsExactly("mvn", "cd", "mvn", "mvn", "./holdfast", "./holdfast", "./holdfast");
    projects.makeCheckout();
    projects.maven().run(projects.checkout(), shown.getFirst().command());
    Path folder = projects.copyOf("onboarding");
    assertThat(shown.get(1).command()).isEqualTo("cd examples/onboarding");
    assertThat(projects.maven().run(folder, shown.get(2).command()))
        .anyMatch(line -> line.contains("Tests run: 3, Failures: 0, Errors: 0, Skipped: 0"));

    TestDatabase database = databases.empty();
    assertThat(processes.launch("migrate").on(database).run().code()).isZero();
    projects.maven().env("DATABASE_URL", UserProjects.urlOf(database)).env("COOL_OFF", "PT1S");
    CompletableFuture<List<String>> program =
        CompletableFuture.supplyAsync(() -> projects.maven().run(folder, shown.get(3).command()));
    awaitWait(database, "SIGNAL", program);
    String id =
        String.valueOf(
            database
                .query("SELECT id FROM holdfast.job WHERE kind = 'onboard'")
                .getFirst()
                .get("id"));
    assertThat(holdfast(database, shown.get(4), id)).contains(id + "  told");
    awaitWait(database, "APPROVAL", program);
    assertThat(holdfast(database, shown.get(5), id))
        .anyMatch(line -> line.contains(id) && line.contains("Raise the limit of Ada?"));
    assertThat(holdfast(database, shown.get(6), id)).contains(id + "  'limit' approved");

    List<String> said = program.get(FIRST_RUN.toMinutes(), TimeUnit.MINUTES);
    assertThat(said).filteredOn(line -> line.equals("mail to Ada: welcome")).hasSize(1);
    assertThat(said).contains("job " + id + " has begun");
    String end =
        Files.readAllLines(AssembledProgram.checkout().resolve(README)).stream()
            .filter(line -> line.startsWith("onboard SUCCEEDED"))
            .findFirst()
            .orElseThrow();
    assertThat(said).contains(end);
  }

  private static void awaitWait(TestDatabase database, String sort, Future<?> program) {
    Awaitility.await()
        .atMost(FIRST_RUN)
        .until(
            () ->
                program.isDone()
                    || database.count(
                            "SELECT count(*) FROM holdfast.job WHERE wait_sort = '" + sort + "'")
                        == 1);
  }

  /** The command as the document has it, but for the id and the quotes of a shell. */
  private List<String> holdfast(TestDatabase database, Shown shown, String id) {
    String[] words = shown.command().replace(ID, id).replace("'", "").split(" ");
    Launch.Answer answer =
        processes.launch(Arrays.copyOfRange(words, 1, words.length)).on(database).run();
    assertThat(answer.code()).as("%s", answer).isZero();
    return answer.out();
  }
}
