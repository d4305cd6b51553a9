package dev.holdfast.app;

import static java.util.regex.Pattern.MULTILINE;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The tests and the code that docs/requirements.md names are there. */
class RequirementsTest {
  private static final Path CHECKOUT = AssembledProgram.checkout();
  private static final Path PAGE = CHECKOUT.resolve("docs/requirements.md");
  private static final Pattern TEST = Pattern.compile("(?:([a-z-]+): )?`([^`]+)`");
  private static final Pattern NAME = Pattern.compile("([A-Z][a-z]\\w*)(?:\\.(\\w+))?");
  private static Map<String, List<Path>> sources = Map.of();

  /** A row of a table: the line it is on, and its last two cells. */
  private record Row(int line, String code, String shownBy) {}

  @BeforeAll
  static void findSources() throws IOException {
    List<Path> files = new ArrayList<>();
    SimpleFileVisitor<Path> visitor =
        new SimpleFileVisitor<>() {
          /** Other modules are built at the same time: what is in theirs comes and goes. */
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes its) {
            return folder.endsWith("target")
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes its) {
            files.add(file);
            return FileVisitResult.CONTINUE;
          }
        };
    for (String root : List.of("modules", "checks")) {
      Files.walkFileTree(CHECKOUT.resolve(root), visitor);
    }
    sources =
        files.stream()
            .filter(file -> file.toString().matches(".*/src/(main|test)/.*"))
            .collect(groupingBy(file -> file.getFileName().toString()));
  }

  private static List<Row> rows() throws IOException {
    List<String> lines = Files.readAllLines(PAGE);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String[] cells = lines.get(i).split("\\|");
      boolean row = lines.get(i).startsWith("|") && !lines.get(i).matches("[|-]+");
      if (row && !cells[cells.length - 1].strip().equals("shown by")) {
        rows.add(new Row(i + 1, cells[cells.length - 2], cells[cells.length - 1]));
      }
    }
    assertThat(rows).hasSizeGreaterThan(100);
    return rows;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void every_test_it_names_exists() throws IOException {
    List<String> missing = new ArrayList<>();
    int named = 0;
    for (Row row : rows()) {
      for (String group : row.shownBy().split(";")) {
        Matcher test = TEST.matcher(group);
        String module = ""; // the first test of a group names it
        while (test.find()) {
          module = test.group(1) == null ? module : test.group(1);
          named++;
          if (!isTest(module, test.group(2))) {
            missing.add("line " + row.line() + ": " + module + ": " + test.group(2));
          }
        }
      }
    }
    assertThat(missing).isEmpty();
    assertThat(named).isGreaterThan(300);
  }

  private static boolean isTest(String module, String test) {
    if (test.startsWith("./")) {
      return isFile(test.split(" ")[0]);
    }
    String[] parts = test.split("\\.", 2);
    Pattern method =
        parts.length == 1
            ? Pattern.compile("\\bclass " + test + "\\b")
            : Pattern.compile("^ +void " + parts[1] + "\\(", MULTILINE);
    return testFiles(module, parts[0]).stream().anyMatch(file -> method.matcher(text(file)).find());
  }

  private static List<Path> testFiles(String module, String name) {
    String place =
        switch (module) {
          case "" -> "dev/holdfast/server/.*";
          case "library" -> "(guide/|dev/holdfast/((micrometer|opentelemetry)/)?)[^/]*";
          case "spring-boot-starter" -> "dev/holdfast/spring/.*";
          default -> "dev/holdfast/" + module + "/.*";
        };
    return sources.getOrDefault(name + ".java", List.of()).stream()
        .filter(file -> file.toString().matches(".*/src/test/java/" + place))
        .toList();
  }

  @Test
  void what_only_a_release_runs_is_marked_and_nothing_else() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Row row : rows()) {
      for (String group : row.shownBy().split(";")) {
        Matcher test = TEST.matcher(group);
        String module = "";
        while (test.find()) {
          module = test.group(1) == null ? module : test.group(1);
          boolean marked = group.startsWith(" (release)", test.end());
          if (marked != isOfRelease(module, test.group(2))) {
            wrong.add("line " + row.line() + ": " + test.group(2));
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static boolean isOfRelease(String module, String test) {
    String[] parts = test.split("\\.", 2);
    String mark = "@OnlyWithRelease\n(?: *(?:@|\"|//)[^\n]*\n)*";
    Pattern marked =
        Pattern.compile(
            parts.length == 1
                ? "^" + mark + "(?:public )?(?:abstract )?class "
                : "^" + mark + "(?:public )?class |^ +" + mark + " +void " + parts[1] + "\\(",
            MULTILINE);
    return testFiles(module, parts[0]).stream().anyMatch(file -> marked.matcher(text(file)).find());
  }

  @Test
  void all_code_it_names_exists() throws IOException {
    List<String> missing = new ArrayList<>();
    for (Row row : rows()) {
      Matcher named = TEST.matcher(row.code());
      while (named.find()) {
        if (!isCode(named.group(2))) {
          missing.add("line " + row.line() + ": " + named.group(2));
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  private static boolean isCode(String name) {
    Matcher parts = NAME.matcher(name);
    if (!parts.matches()) {
      return isFile(name) || isWord(name);
    }
    String member = parts.group(2);
    return sources.getOrDefault(parts.group(1) + ".java", List.of()).stream()
        .anyMatch(
            file ->
                member == null
                    || Pattern.compile("\\b" + member + "\\(|(record|enum|class) " + member + "\\b")
                        .matcher(text(file))
                        .find());
  }

  private static boolean isFile(String name) {
    return sources.containsKey(name) || Files.exists(CHECKOUT.resolve(name));
  }

  /** Such as a setting, a column or a part of a statement. */
  private static boolean isWord(String name) {
    return sources.values().stream()
        .flatMap(List::stream)
        .filter(file -> file.toString().matches(".*/src/main/.*\\.(java|sql|js|yaml)"))
        .anyMatch(file -> text(file).contains(name));
  }
}
