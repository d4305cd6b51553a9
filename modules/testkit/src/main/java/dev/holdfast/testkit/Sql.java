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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Statements of a test, on one connection that no pool can run out of. */
final class Sql implements AutoCloseable {
  private final Supplier<Connection> connect;
  private @Nullable Connection connection;

  Sql(Supplier<Connection> connect) {
    this.connect = connect;
  }

  synchronized int update(String sql, Object... arguments) {
    try (PreparedStatement statement = prepare(sql, arguments)) {
      statement.execute();
      return statement.getUpdateCount();
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  synchronized List<Map<String, @Nullable Object>> query(String sql, Object... arguments) {
    try (PreparedStatement statement = prepare(sql, arguments);
        ResultSet rows = statement.executeQuery()) {
      List<Map<String, @Nullable Object>> all = new ArrayList<>();
      while (rows.next()) {
        all.add(row(rows));
      }
      return all;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  @Nullable Object only(String sql, Object... arguments) {
    List<Map<String, @Nullable Object>> rows = query(sql, arguments);
    if (rows.size() != 1) {
      throw new IllegalStateException(rows.size() + " rows instead of one: " + sql);
    }
    return rows.getFirst().values().iterator().next();
  }

  private static Map<String, @Nullable Object> row(ResultSet rows) throws SQLException {
    ResultSetMetaData columns = rows.getMetaData();
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      row.put(columns.getColumnLabel(i), rows.getObject(i));
    }
    return row;
  }

  private PreparedStatement prepare(String sql, Object... arguments) throws SQLException {
    PreparedStatement statement = connected().prepareStatement(sql);
    for (int i = 0; i < arguments.length; i++) {
      statement.setObject(i + 1, arguments[i]);
    }
    return statement;
  }

  private Connection connected() throws SQLException {
    Connection current = connection;
    if (current == null || current.isClosed()) {
      current = connect.get();
      connection = current;
    }
    return current;
  }

  @Override
  public synchronized void close() {
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (SQLException e) {
      throw new IllegalStateException("cannot close a connection", e);
    }
  }
}
