package dev.holdfast.upgrade;

import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The rows of a database as statements, which can be kept beside the migrations of a release and
 * compared by people. Not by pg_dump: it would have to be there, in the version of the server.
 */
final class DatabaseText {
  private static final String TABLES =
      """
      SELECT table_name AS name,
             (SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)
                FROM information_schema.columns c
               WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name) AS columns
        FROM information_schema.tables t
       WHERE table_schema = 'holdfast' AND table_type = 'BASE TABLE'
         AND table_name <> 'schema_version'
       ORDER BY table_name
      """;

  private DatabaseText() {}

  static String of(TestDatabase database) {
    StringBuilder text = new StringBuilder();
    // Rows of one table may refer to those of another that comes later.
    text.append("SET session_replication_role = replica;\n");
    for (Map<String, ?> table : database.query(TABLES)) {
      String name = "holdfast." + table.get("name");
      Object columns = table.get("columns");
      text.append("DELETE FROM ").append(name).append(";\n");
      for (Map<String, ?> row :
          database.query("SELECT quote_literal(to_jsonb(t)::text) AS json FROM " + name + " t")) {
        text.append("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE\n".formatted(name, columns))
            .append("SELECT %s FROM jsonb_populate_record(NULL::%s,\n".formatted(columns, name))
            .append("  %s);\n".formatted(row.get("json")));
      }
    }
    return text.append("SET session_replication_role = DEFAULT;\n").toString();
  }

  static void restore(TestDatabase database, String text) throws SQLException {
    try (Connection connection = database.connection();
        Statement statement = connection.createStatement()) {
      statement.execute(text);
    }
  }

  /** What every job looks like from outside, to be compared. */
  static List<String> jobs(TestDatabase database) {
    return database
        .query(
            "SELECT id || ' ' || kind || ' ' || queue || ' ' || state AS text FROM holdfast.job ORDER BY id")
        .stream()
        .map(row -> String.valueOf(row.get("text")))
        .collect(Collectors.toList());
  }
}
