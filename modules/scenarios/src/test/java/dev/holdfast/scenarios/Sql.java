package dev.holdfast.scenarios;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Statements of a test. */
final class Sql {
  private Sql() {}

  static void run(DataSource source, String sql, Object... arguments) {
    try (Connection connection = source.getConnection();
        PreparedStatement statement = prepared(connection, sql, arguments)) {
      statement.execute();
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** The number in the first column of the first row. */
  static long count(DataSource source, String sql, Object... arguments) {
    try (Connection connection = source.getConnection();
        PreparedStatement statement = prepared(connection, sql, arguments);
        ResultSet rows = statement.executeQuery()) {
      if (!rows.next()) {
        throw new IllegalStateException("no row: " + sql);
      }
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** The first column. */
  static List<String> strings(DataSource source, String sql, Object... arguments) {
    try (Connection connection = source.getConnection();
        PreparedStatement statement = prepared(connection, sql, arguments);
        ResultSet rows = statement.executeQuery()) {
      List<String> strings = new ArrayList<>();
      while (rows.next()) {
        strings.add(rows.getString(1));
      }
      return strings;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private static PreparedStatement prepared(Connection connection, String sql, Object... arguments)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < arguments.length; i++) {
      statement.setObject(i + 1, arguments[i]);
    }
    return statement;
  }
}
