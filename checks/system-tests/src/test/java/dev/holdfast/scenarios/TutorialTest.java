package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.scenarios.UserProjects.Shown;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** docs/tutorial.md from its first command to its last, but for the database of {@code dev}. */
@Durable
@OnlyWithRelease
@ExtendWith(WorldExtension.class)
class TutorialTest {
  private static final int READERS = 20;
  private static final Pattern SENT = Pattern.compile("'Hello' to reader (\\d+)$");

  /** Thousands of classes out of nested jars, on a machine that has other builds to do. */
  private static final Duration FIRST_START = Duration.ofMinutes(10);

  private final Processes processes;
  private final UserProjects projects;

  TutorialTest(Processes processes) throws IOException {
    this.processes = processes;
    this.projects = new UserProjects(processes.folder());
  }

  /** As {@code holdfast dev} writes it. */
  private Path serviceFile(TestDatabase database) throws IOException {
    URI url = URI.create(database.url().substring("jdbc:".length()));
    return Files.writeString(
        processes.folder().resolve("pg_service.conf"),
        "[holdfast]\nhost=%s\nport=%d\ndbname=%s\nuser=%s\npassword=%s\n"
            .formatted(
                url.getHost(),
                url.getPort(),
                url.getPath().substring(1),
                database.user(),
                database.password()));
  }

  private static ChildProcess start(Shown shown, Path folder, Path service) {
    ProcessBuilder builder =
        new ProcessBuilder(UserProjects.java(shown, "--server.port=0")).directory(folder.toFile());
    builder.environment().put("PGSERVICEFILE", service.toString());
    return ChildProcess.start(builder);
  }

  private static List<Integer> sent(ChildProcess service) {
    return service.lines().stream()
        .map(SENT::matcher)
        .filter(Matcher::find)
        .map(reader -> Integer.valueOf(reader.group(1)))
        .toList();
  }

  private static List<String> shell(String command) {
    try (ChildProcess shell = ChildProcess.command("sh", "-c", command)) {
      assertThat(shell.awaitExit(SOON)).as(command).isZero();
      return shell.lines();
    }
  }

  @Test
  void the_service_of_the_tutorial_goes_on_where_it_was_killed(TestDatabase databases)
      throws Exception {
    List<Shown> shown = UserProjects.shown("docs/tutorial.md", TutorialTest.class);
    assertThat(shown)
        .extracting(each -> each.command().split(" ")[0])
        .containsExactly("mvn", "cd", "mvn", "java", "curl", "kill", "java", "./holdfast");
    projects.makeCheckout();
    projects.maven().run(projects.checkout(), shown.getFirst().command());
    Path folder = projects.copyOf("newsletter");
    assertThat(shown.get(1).command()).isEqualTo("cd examples/newsletter");
    assertThat(projects.maven().run(folder, shown.get(2).command()))
        .anyMatch(line -> line.contains("Tests run: 1, Failures: 0, Errors: 0, Skipped: 0"));

    TestDatabase database = databases.empty();
    Path service = serviceFile(database);
    List<Integer> first;
    try (ChildProcess killed = start(shown.get(3), folder, service)) {
      String port = killed.awaitLine("Tomcat started on port (\\d+)", FIRST_START).group(1);
      String curl = shown.get(4).command().replace("localhost:8080", "127.0.0.1:" + port);
      assertThat(shell(curl)).anyMatch(line -> line.matches(".*\\p{XDigit}{8}(-\\p{XDigit}+){4}"));
      killed.awaitLine("'Hello' to reader 3", SOON);
      String pgrep = "$(pgrep -f newsletter-1.0-SNAPSHOT.jar)";
      assertThat(shown.get(5).command()).contains(pgrep);
      shell(shown.get(5).command().replace(pgrep, Long.toString(killed.pid())));
      killed.awaitExit(SOON);
      first = sent(killed);
    }
    List<Integer> second;
    try (ChildProcess again = start(shown.get(6), folder, service)) {
      again.awaitLine("'Hello' to reader " + READERS, FIRST_START);
      second = sent(again);
      again.signal("TERM");
      again.awaitExit(SOON);
    }
    assertThat(second.getFirst()).isIn(first.getLast(), first.getLast() + 1);
    assertThat(Stream.concat(first.stream(), second.stream()).distinct())
        .containsExactlyElementsOf(IntStream.rangeClosed(1, READERS).boxed().toList());

    assertThat(shown.get(7).command()).isEqualTo("./holdfast jobs list --queue news");
    Launch.Answer listed = processes.launch("jobs", "list", "--queue", "news").on(database).run();
    assertThat(listed.out()).anyMatch(line -> line.matches(".*send-issue +news +\\w+ +2 .*"));
  }
}
