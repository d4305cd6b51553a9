package dev.holdfast.queue.schema;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.queue.Checkout;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** docs/queries.md names every index of the schema, and statements that exist. */
@ExtendWith(DatabaseExtension.class)
class QueriesTest {
  /** A table in a statement, and not the name of a package. */
  private static final Pattern TABLE = Pattern.compile("(?<!dev\\.)\\bholdfast\\.[a-z_]+\\b");

  private static final Pattern QUOTED = Pattern.compile("`(\\w+)`");

  /** A row of a table of indexes. */
  private record Row(String index, Set<String> statements, String why) {}

  private static List<Row> rows() throws IOException {
    List<Row> rows = new ArrayList<>();
    boolean indexes = false;
    for (String line : Files.readAllLines(Checkout.file("docs/queries.md"))) {
      if (line.startsWith("## ")) {
        indexes = line.startsWith("## Indexes");
      } else if (indexes && line.startsWith("| `")) {
        String[] cells = line.split("\\|", -1);
        rows.add(new Row(quoted(cells[1]).getFirst(), Set.copyOf(quoted(cells[2])), cells[3]));
      }
    }
    return rows;
  }

  private static List<String> quoted(String text) {
    return QUOTED.matcher(text).results().map(match -> match.group(1)).toList();
  }

  @Test
  void every_index_is_named_once_and_exists(TestDatabase db) throws IOException {
    List<String> indexes =
        db.query("SELECT indexname FROM pg_indexes" + " WHERE schemaname = 'holdfast'").stream()
            .map(row -> String.valueOf(row.get("indexname")))
            .toList();
    assertThat(rows().stream().map(Row::index)).containsExactlyInAnyOrderElementsOf(indexes);
  }

  @Test
  void every_statement_is_a_class_and_every_index_serves_one() throws IOException {
    Set<String> classes = classesWithSql();
    for (Row row : rows()) {
      assertThat(row.statements()).as(row.index()).isNotEmpty();
      assertThat(classes).as(row.index()).containsAll(row.statements());
      assertThat(row.why()).as(row.index()).isNotBlank();
    }
  }

  @Test
  void every_class_with_a_statement_is_named_on_the_page() throws IOException {
    Set<String> named = Set.copyOf(quoted(Checkout.read(Checkout.file("docs/queries.md"))));
    assertThat(named).containsAll(classesWithSql());
  }

  /** Classes whose file names a table. */
  private static Set<String> classesWithSql() throws IOException {
    try (Stream<Path> files = Files.walk(Checkout.file("modules/queue/src/main/java"))) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> TABLE.matcher(Checkout.read(file)).find())
          .map(file -> file.getFileName().toString().replace(".java", ""))
          .collect(toSet());
    }
  }

  @Test
  void every_class_named_on_the_page_exists() throws IOException {
    String page = Checkout.read(Checkout.file("docs/queries.md"));
    Set<String> named =
        Pattern.compile("`([A-Z][a-z]\\w+)`")
            .matcher(page)
            .results()
            .map(match -> match.group(1))
            .collect(toCollection(TreeSet::new));
    try (Stream<Path> files =
        Stream.concat(Files.walk(Checkout.file("modules")), Files.walk(Checkout.file("checks")))) {
      Set<String> classes =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".java"))
              .map(name -> name.replace(".java", ""))
              .collect(toSet());
      assertThat(classes).containsAll(named);
    }
  }
}
