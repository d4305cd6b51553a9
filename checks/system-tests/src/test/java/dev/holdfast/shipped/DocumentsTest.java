package dev.holdfast.shipped;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithAll;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every command that a document shows is run, and prints what the document says it prints. */
@Execution(ExecutionMode.CONCURRENT)
class DocumentsTest {
  private static final Path CHECKOUT = Path.of("../..").toAbsolutePath().normalize();
  private static final int MOST_NOT_RUN = 4;

  /** How deep to look: what is built or downloaded lies deeper. */
  private static final Map<String, Integer> DEPTHS = Map.of("", 1, "sdk", 2);

  /** The modules whose tests run commands of documents. */
  private static final List<Path> TESTS =
      List.of(
          CHECKOUT.resolve("checks/system-tests/src/test/java/dev/holdfast/scenarios"),
          CHECKOUT.resolve("checks/system-tests/src/test/java/dev/holdfast/sdk"),
          CHECKOUT.resolve("checks/system-tests/src/test/java/dev/holdfast/shipped"));

  @BeforeAll
  static void build() {
    FreshClone.built();
  }

  static List<String> documents() throws IOException {
    String markdown = "glob:{*.md,docs/**.md,examples/*/*.md,sdk/*/*.md}";
    var wanted = FileSystems.getDefault().getPathMatcher(markdown);
    List<String> names = new ArrayList<>();
    for (String top : List.of("", "docs", "examples", "sdk")) {
      try (Stream<Path> files = Files.walk(CHECKOUT.resolve(top), DEPTHS.getOrDefault(top, 9))) {
        files
            .map(CHECKOUT::relativize)
            .filter(wanted::matches)
            .map(Path::toString)
            .sorted()
            .forEach(names::add);
      }
    }
    return names;
  }

  /** What a newcomer reads first; the others are for a release. */
  private static boolean isRead(String name) {
    return Extent.isRelease()
        || name.equals("README.md")
        || System.getenv().containsKey("DOCUMENT");
  }

  static List<String> withCommands() throws IOException {
    List<String> names = new ArrayList<>();
    String only = System.getenv().getOrDefault("DOCUMENT", "");
    for (String name : documents()) {
      if (name.contains(only)
          && isRead(name)
          && Document.read(CHECKOUT, name).steps().stream()
              .anyMatch(Document.Command.class::isInstance)) {
        names.add(name);
      }
    }
    return names;
  }

  @OnlyWithAll
  @ParameterizedTest
  @MethodSource("withCommands")
  void the_commands_of_a_document_print_what_it_shows(String name) throws IOException {
    Path place = Path.of("target", "sessions", name.replace('/', '-')).toAbsolutePath();
    try (Session session = new Session(name, FreshClone.built(), place)) {
      for (Document.Step step : Document.read(CHECKOUT, name).steps()) {
        if (step instanceof Document.Command command && isThere(name, command)) {
          session.run(command);
        }
      }
      session.end();
    }
    FreshClone.delete(place);
  }

  private static boolean isThere(String document, Document.Command command) {
    boolean there =
        command.needs().isEmpty()
            || Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, command.needs())));
    if (!there) {
      System.err.printf(
          "%s:%d is not run: %s is not installed%n", document, command.line(), command.needs());
    }
    return there;
  }

  @Test
  void what_another_test_runs_is_named_by_a_test_that_exists() throws IOException {
    for (String name : documents()) {
      for (Document.Step step : Document.read(CHECKOUT, name).steps()) {
        if (step instanceof Document.RunBy other) {
          assertThat(TESTS)
              .as("%s:%d", name, other.line())
              .anyMatch(tests -> Files.exists(tests.resolve(other.test() + ".java")));
        }
      }
    }
  }

  @Test
  void few_blocks_are_not_run_and_each_states_the_reason() throws IOException {
    List<String> all = new ArrayList<>();
    for (String name : documents()) {
      for (Document.Step step : Document.read(CHECKOUT, name).steps()) {
        if (step instanceof Document.NotRun not) {
          assertThat(not.reason()).as("%s:%d", name, not.line()).hasSizeGreaterThan(10);
          all.add(name + ":" + not.line() + ": " + not.reason());
        }
      }
    }
    assertThat(all).hasSizeLessThanOrEqualTo(MOST_NOT_RUN);
  }
}
