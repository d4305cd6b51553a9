package dev.holdfast.testkit;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Statements of a test, each in a transaction of its own. */
public final class Sql {
  /** Lends a connection for one statement. */
  interface Lender {
    Connection lend() throws SQLException;

    void takeBack(Connection connection) throws SQLException;
  }

  private interface Work<T> {
    T with(PreparedStatement statement) throws SQLException;
  }

  private final Lender lender;

  Sql(Lender lender) {
    this.lender = lender;
  }

  /** On any connection of a pool, which may have to make a new one. */
  public static Sql on(DataSource pool) {
    return new Sql(
        new Lender() {
          @Override
          public Connection lend() throws SQLException {
            return pool.getConnection();
          }

          @Override
          public void takeBack(Connection connection) throws SQLException {
            connection.close();
          }
        });
  }

  /** Returns how many rows it touched. */
  public int update(String sql, Object... arguments) {
    return run(
        sql,
        arguments,
        statement -> {
          statement.execute();
          return statement.getUpdateCount();
        });
  }

  public List<Map<String, @Nullable Object>> query(String sql, Object... arguments) {
    return run(
        sql,
        arguments,
        statement -> {
          try (ResultSet rows = statement.executeQuery()) {
            List<Map<String, @Nullable Object>> all = new ArrayList<>();
            while (rows.next()) {
              all.add(row(rows));
            }
            return all;
          }
        });
  }

  /** The first column of the only row. */
  public @Nullable Object only(String sql, Object... arguments) {
    List<Map<String, @Nullable Object>> rows = query(sql, arguments);
    if (rows.size() != 1) {
      throw new IllegalStateException(rows.size() + " rows instead of one: " + sql);
    }
    return first(rows.getFirst());
  }

  /** The first column of the only row, as a number. */
  public long count(String sql, Object... arguments) {
    return only(sql, arguments) instanceof Number number ? number.longValue() : 0;
  }

  /** The first column of all rows, as text. */
  public List<String> strings(String sql, Object... arguments) {
    return query(sql, arguments).stream().map(row -> String.valueOf(first(row))).toList();
  }

  private static @Nullable Object first(Map<String, @Nullable Object> row) {
    return row.values().iterator().next();
  }

  private static Map<String, @Nullable Object> row(ResultSet rows) throws SQLException {
    ResultSetMetaData columns = rows.getMetaData();
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      row.put(columns.getColumnLabel(i), rows.getObject(i));
    }
    return row;
  }

  private <T> T run(String sql, Object[] arguments, Work<T> work) {
    try {
      Connection connection = lender.lend();
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        for (int i = 0; i < arguments.length; i++) {
          statement.setObject(i + 1, arguments[i]);
        }
        return work.with(statement);
      } finally {
        lender.takeBack(connection);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
