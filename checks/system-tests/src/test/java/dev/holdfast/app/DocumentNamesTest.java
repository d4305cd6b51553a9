package dev.holdfast.app;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tables, columns and log lines that documents quote exist. */
class DocumentNamesTest {
  private static final Path CHECKOUT = AssembledProgram.checkout();
  private static final Path MODULES = CHECKOUT.resolve("modules");
  private static final Path MIGRATIONS =
      MODULES.resolve("queue/src/main/resources/dev/holdfast/queue/migration");

  private static final Pattern TABLE =
      Pattern.compile(
          "CREATE (?:UNLOGGED )?TABLE holdfast\\.(\\w+) \\((.*?)^\\)",
          Pattern.DOTALL | Pattern.MULTILINE);

  private static final Pattern COLUMN = Pattern.compile("(?m)^ {2}([a-z_]+) ");

  /** {@code job.cancel_deadline}, {@code holdfast.claim}. */
  private static final Pattern QUALIFIED = Pattern.compile("`([a-z_]+)\\.([a-z_]+)`");

  /** {@code cancel_deadline}, {@code lease_expires_at IS NOT NULL}. */
  private static final Pattern SNAKE_CASE = Pattern.compile("`([a-z]+(?:_[a-z]+)+)\\b[^`]*`");

  private static final Pattern IN_BACKTICKS = Pattern.compile("`([^`]+)`");

  private static Map<String, Set<String>> tables() throws IOException {
    Map<String, Set<String>> tables = new TreeMap<>();
    try (Stream<Path> migrations = Files.list(MIGRATIONS)) {
      for (Path migration : migrations.toList()) {
        for (MatchResult table : TABLE.matcher(read(migration)).results().toList()) {
          tables.put(
              table.group(1),
              COLUMN
                  .matcher(table.group(2))
                  .results()
                  .map(column -> column.group(1))
                  .collect(toCollection(TreeSet::new)));
        }
      }
    }
    return tables;
  }

  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>();
    documents.add(CHECKOUT.resolve("docs/architecture.md"));
    documents.add(CHECKOUT.resolve("docs/internals.md"));
    documents.add(CHECKOUT.resolve("docs/queries.md"));
    try (Stream<Path> decisions = Files.list(CHECKOUT.resolve("docs/adr"))) {
      decisions.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
    }
    return documents;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** The main sources of all modules; adjacent string literals are one. */
  private static String sources() throws IOException {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> modules =
        Stream.concat(Files.list(MODULES), Files.list(CHECKOUT.resolve("checks")))) {
      for (Path module : modules.sorted().toList()) {
        Path main = module.resolve("src/main");
        if (Files.isDirectory(main)) {
          try (Stream<Path> files = Files.walk(main)) {
            files
                .filter(file -> file.toString().matches(".*\\.(java|sql)"))
                .forEach(file -> all.append(read(file)).append('\n'));
          }
        }
      }
    }
    return all.toString().replaceAll("\"\\s*\\+\\s*\"", "");
  }

  @Test
  void every_column_that_is_named_with_its_table_exists() throws IOException {
    Map<String, Set<String>> tables = tables();
    assertThat(tables.get("job")).contains("id", "cancel_deadline", "lease_expires_at");
    List<String> missing = new ArrayList<>();
    for (Path document : documents()) {
      for (MatchResult named : QUALIFIED.matcher(read(document)).results().toList()) {
        String table = named.group(1);
        String column = named.group(2);
        boolean exists =
            table.equals("holdfast")
                ? tables.containsKey(column) || column.equals("jar")
                : !tables.containsKey(table) || tables.get(table).contains(column);
        if (!exists && !isPackage(table, column)) {
          missing.add(named.group() + " in " + document.getFileName());
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  /** {@code queue.claim} is a package. */
  private static boolean isPackage(String module, String inner) {
    return Files.isDirectory(
        MODULES.resolve(Path.of(module, "src/main/java/dev/holdfast", module, inner)));
  }

  @Test
  void every_name_with_underscores_is_in_the_schema_or_the_sources() throws IOException {
    String sources = sources();
    Set<String> tables = tables().keySet();
    List<String> missing = new ArrayList<>();
    for (Path document : documents()) {
      SNAKE_CASE
          .matcher(read(document))
          .results()
          .map(named -> named.group(1))
          // PostgreSQL's own names, and those that it gives to primary keys.
          .filter(name -> !name.startsWith("pg_"))
          .filter(name -> !tables.contains(name.replaceAll("_pkey$", "")))
          .filter(name -> !Pattern.compile("\\b" + name + "\\b").matcher(sources).find())
          .forEach(name -> missing.add(name + " in " + document.getFileName()));
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void every_log_line_of_the_operations_guide_is_in_the_sources() throws IOException {
    List<String> literals =
        Pattern.compile("\"((?:[^\"\\\\\\n]|\\\\.)*)\"")
            .matcher(sources())
            .results()
            .map(literal -> literal.group(1))
            .toList();
    List<String> rows =
        read(CHECKOUT.resolve("docs/operations.md"))
            .lines()
            .dropWhile(line -> !line.equals("## Log codes"))
            .skip(1)
            .takeWhile(line -> !line.startsWith("## "))
            .filter(line -> line.startsWith("| `"))
            .toList();
    assertThat(rows).hasSizeGreaterThan(8);
    List<String> missing = new ArrayList<>();
    for (String row : rows) {
      for (MatchResult line : IN_BACKTICKS.matcher(row).results().toList()) {
        Stream.of(line.group(1).split("[…()0-9]+"))
            .map(String::strip)
            .filter(fixed -> !fixed.isEmpty())
            .filter(fixed -> literals.stream().noneMatch(literal -> literal.contains(fixed)))
            .forEach(fixed -> missing.add("'" + fixed + "' of: " + line.group(1)));
      }
    }
    assertThat(missing).isEmpty();
  }
}
