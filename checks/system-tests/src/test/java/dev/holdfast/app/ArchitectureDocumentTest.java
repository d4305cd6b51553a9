package dev.holdfast.app;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What docs/architecture.md and docs/internals.md name is there, and what is there is named. */
class ArchitectureDocumentTest {
  private static final Path CHECKOUT = AssembledProgram.checkout();
  private static final Path MIGRATIONS =
      CHECKOUT.resolve("modules/queue/src/main/resources/dev/holdfast/queue/migration");

  /** A class, perhaps with a method: {@code Claim}, {@code JobSource.claim}. */
  private static final Pattern CLASS = Pattern.compile("\\b([A-Z][a-z]\\w*)(?:\\.\\w+)?");

  /** {@code PENDING --> RUNNING : claim}; {@code [*]} is before the first or after the last. */
  private static final Pattern ARROW = Pattern.compile(" *(\\S+) --> (\\S+)");

  private static final Pattern IN_BACKTICKS = Pattern.compile("`([^`]+)`");

  private static List<String> lines() throws IOException {
    List<String> lines = new ArrayList<>(overview());
    lines.addAll(Files.readAllLines(CHECKOUT.resolve("docs/internals.md")));
    return lines;
  }

  private static List<String> overview() throws IOException {
    return Files.readAllLines(CHECKOUT.resolve("docs/architecture.md"));
  }

  private static List<String> section(String heading) throws IOException {
    return lines().stream()
        .dropWhile(line -> !line.equals("## " + heading))
        .skip(1)
        .takeWhile(line -> !line.startsWith("## "))
        .toList();
  }

  private static Set<String> classes() throws IOException {
    Set<String> names = new TreeSet<>();
    for (Path module : modules()) {
      Path sources = module.resolve("src/main/java");
      if (Files.isDirectory(sources)) {
        try (Stream<Path> files = Files.walk(sources)) {
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".java"))
              .forEach(name -> names.add(name.substring(0, name.length() - ".java".length())));
        }
      }
    }
    try (Stream<Path> files = Files.walk(CHECKOUT.resolve("checks"))) {
      // Tests that the page names.
      files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith("Test.java") || name.equals("Verb.java"))
          .forEach(name -> names.add(name.substring(0, name.length() - ".java".length())));
    }
    return names;
  }

  private static List<Path> modules() throws IOException {
    List<Path> found = new ArrayList<>();
    for (String root : List.of("modules", "checks")) {
      try (Stream<Path> folders = Files.list(CHECKOUT.resolve(root))) {
        folders.filter(folder -> Files.exists(folder.resolve("pom.xml"))).forEach(found::add);
      }
    }
    return found;
  }

  @Test
  void the_overview_is_a_page_that_is_read_in_ten_minutes() throws IOException {
    long words =
        overview().stream()
            .flatMap(line -> Arrays.stream(line.split("[\\s|]+")))
            .filter(word -> word.matches(".*\\w.*"))
            .count();
    assertThat(words).isLessThan(1_400);
  }

  @Test
  void every_place_that_the_overview_names_exists() throws IOException {
    List<String> places =
        overview().stream()
            .flatMap(line -> IN_BACKTICKS.matcher(line).results())
            .map(found -> found.group(1))
            .filter(name -> name.matches("(modules|checks|docs)/.*"))
            .toList();
    assertThat(places)
        .hasSizeGreaterThan(8)
        .allSatisfy(place -> assertThat(CHECKOUT.resolve(place)).exists());
  }

  @Test
  void the_overview_has_every_room() throws IOException {
    Set<String> named =
        section("The rooms").stream()
            .filter(line -> line.startsWith("| `"))
            .flatMap(line -> quoted(line.split("\\|", -1)[1]).stream())
            .collect(toCollection(TreeSet::new));
    Set<String> rooms =
        modules().stream()
            .filter(module -> module.startsWith(CHECKOUT.resolve("modules")))
            .map(module -> module.getFileName().toString())
            .collect(toCollection(TreeSet::new));
    rooms.add("checks/");
    assertThat(named).isEqualTo(rooms);
  }

  @Test
  void every_class_of_a_walkthrough_exists() throws IOException {
    Set<String> classes = classes();
    List<String> missing = new ArrayList<>();
    int walks = 0;
    for (String line : lines()) {
      if (line.contains("──►")) {
        walks++;
        // The verb, the walk, and what is said about it are columns.
        String walk = line.split(" {2,}", 3)[1];
        CLASS
            .matcher(walk)
            .results()
            .map(found -> found.group(1))
            .filter(name -> !classes.contains(name))
            .forEach(name -> missing.add(name + " in: " + line));
      }
    }
    assertThat(walks).as("walks in the page").isGreaterThan(15);
    assertThat(missing).isEmpty();
  }

  @Test
  void every_class_named_in_the_text_exists() throws IOException {
    Set<String> classes = classes();
    List<String> missing = new ArrayList<>();
    for (String line : lines()) {
      IN_BACKTICKS
          .matcher(line)
          .results()
          .map(found -> CLASS.matcher(found.group(1)))
          .filter(Matcher::matches)
          .map(named -> named.group(1))
          .filter(name -> !classes.contains(name))
          .forEach(name -> missing.add(name + " in: " + line));
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void every_module_and_package_is_named() throws IOException {
    List<String> rows =
        section("Modules and packages").stream()
            .filter(line -> line.matches("\\| `(modules|checks)/.*"))
            .toList();
    Set<String> named =
        rows.stream().map(row -> row.split("`")[1]).collect(toCollection(TreeSet::new));
    assertThat(named)
        .isEqualTo(
            modules().stream()
                .map(module -> CHECKOUT.relativize(module).toString())
                .collect(toCollection(TreeSet::new)));
    List<String> missing = new ArrayList<>();
    for (String row : rows) {
      String module = row.split("`")[1];
      Set<String> words =
          IN_BACKTICKS.matcher(row).results().map(found -> found.group(1)).collect(toSet());
      if (Set.of("checks/testkit", "checks/bench").contains(module)) {
        continue;
      }
      for (String inner : packages(CHECKOUT.resolve(module))) {
        if (!words.contains(inner)) {
          missing.add(inner + " of " + module);
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  /** The packages below that of the module. */
  private static List<String> packages(Path module) {
    Path top =
        module.resolve("src/main/java/dev/holdfast").resolve(module.getFileName().toString());
    if (!Files.isDirectory(top)) {
      return List.of();
    }
    try (Stream<Path> folders = Files.list(top)) {
      return folders
          .filter(Files::isDirectory)
          .map(folder -> folder.getFileName().toString())
          .sorted()
          .toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Test
  void every_table_is_listed() throws IOException {
    Set<String> listed =
        section("Tables").stream()
            .takeWhile(line -> !line.startsWith("Indexes"))
            .filter(line -> line.startsWith("| `"))
            .map(line -> line.split("`")[1])
            .collect(toCollection(TreeSet::new));
    Set<String> made = new TreeSet<>();
    try (Stream<Path> migrations = Files.list(MIGRATIONS)) {
      for (Path migration : migrations.toList()) {
        Pattern.compile("CREATE (?:UNLOGGED )?TABLE holdfast\\.(\\w+)")
            .matcher(Files.readString(migration))
            .results()
            .map((MatchResult found) -> found.group(1))
            .forEach(made::add);
      }
    }
    assertThat(listed).isEqualTo(made);
  }

  @Test
  void every_method_of_the_queue_is_listed_at_its_entry_point() throws IOException {
    String row =
        lines().stream()
            .filter(line -> line.startsWith("| `JobQueue` |"))
            .findFirst()
            .orElseThrow();
    Set<String> listed = quoted(row.split("\\|", -1)[2]);
    Set<String> methods =
        Arrays.stream(JobQueue.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .map(Method::getName)
            .collect(toCollection(TreeSet::new));
    assertThat(listed).isEqualTo(methods);
  }

  private static Set<String> quoted(String text) {
    return IN_BACKTICKS
        .matcher(text)
        .results()
        .map(found -> found.group(1))
        .collect(toCollection(TreeSet::new));
  }

  @Test
  void the_diagram_of_states_has_the_transitions_of_the_code() throws IOException {
    Set<String> drawn = new TreeSet<>();
    for (String line : section("States")) {
      Matcher arrow = ARROW.matcher(line);
      if (arrow.lookingAt()) {
        assertThat(drawn.add(arrow.group(1) + " --> " + arrow.group(2))).as(line).isTrue();
      }
    }
    Set<String> possible = new TreeSet<>(Set.of("[*] --> PENDING", "[*] --> WAITING"));
    for (JobState state : JobState.values()) {
      state.next().forEach(next -> possible.add(state + " --> " + next));
      if (state.isTerminal()) {
        possible.add(state + " --> [*]");
      }
    }
    assertThat(drawn).isEqualTo(possible);
  }
}
