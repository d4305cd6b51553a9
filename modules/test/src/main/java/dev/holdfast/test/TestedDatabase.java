package dev.holdfast.test;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** The database of one test. */
record TestedDatabase(DataSource dataSource, Runnable drop) {
  private static final String TABLES =
      """
      SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
       WHERE schemaname = 'holdfast'
         AND tablename NOT IN ('schema_version', 'schema_compatibility')
      """;

  void empty() {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      List<String> tables = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery(TABLES)) {
        while (rows.next()) {
          tables.add(rows.getString(1));
        }
      }
      statement.execute("TRUNCATE " + String.join(", ", tables));
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
    } catch (SQLException e) {
      throw new IllegalStateException("the database could not be emptied", e);
    }
  }

  void close() {
    drop.run();
  }
}
