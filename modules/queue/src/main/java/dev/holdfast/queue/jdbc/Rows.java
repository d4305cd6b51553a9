package dev.holdfast.queue.jdbc;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Converts values for JDBC, and columns of rows to values. */
public final class Rows {
  /**
   * Settings of a transaction, as columns of a SELECT: one plan for all parameters, by indexes.
   * Before version 18 the server adds 10,000,000,000 to the estimated cost of a scan that it was
   * told to avoid, such as that of a table with one row, and compiles every statement that seems so
   * costly: for a second and more, each time.
   */
  public static final String BY_INDEX =
      """
      set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
             set_config('plan_cache_mode', 'force_generic_plan', true)""";

  static final String ONE_PLAN = "SELECT " + BY_INDEX + ";\n";

  /** Makes a value of the current row. */
  @FunctionalInterface
  public interface Reader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private Rows() {}

  static PreparedStatement prepare(Connection connection, String sql, @Nullable Object[] values)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, forJdbc(values[i]));
    }
    return statement;
  }

  static <T> List<T> read(ResultSet rows, Reader<T> reader) throws SQLException {
    List<T> read = new ArrayList<>();
    while (rows.next()) {
      read.add(reader.read(rows));
    }
    return read;
  }

  private static @Nullable Object forJdbc(@Nullable Object value) {
    return switch (value) {
      case null -> null;
      case JobId id -> id.value();
      case Json json -> json.text();
      case Instant instant -> instant.atOffset(ZoneOffset.UTC);
      case Duration duration -> duration.toMillis();
      default -> value;
    };
  }

  public static <T> Array array(
      Connection connection, String type, List<T> rows, Function<T, @Nullable Object> column)
      throws SQLException {
    @Nullable Object[] values = arrayOf(type, rows.size());
    for (int i = 0; i < values.length; i++) {
      @Nullable Object value = forJdbc(column.apply(rows.get(i)));
      boolean asText = values instanceof String[] || value instanceof OffsetDateTime;
      values[i] = value != null && asText ? value.toString() : value;
    }
    return connection.createArrayOf(type, values);
  }

  /** The driver sends arrays of these in binary, and all others as text that it has to escape. */
  private static @Nullable Object[] arrayOf(String type, int size) {
    return switch (type) {
      case "text" -> new String[size];
      case "int4" -> new Integer[size];
      case "int8" -> new Long[size];
      case "float8" -> new Double[size];
      default -> new Object[size];
    };
  }

  public static Array ids(Connection connection, List<Lease> leases) throws SQLException {
    return array(connection, "uuid", leases, Lease::job);
  }

  public static Array attempts(Connection connection, List<Lease> leases) throws SQLException {
    return array(connection, "int4", leases, Lease::attempt);
  }

  public static JobId id(ResultSet row, String column) throws SQLException {
    return new JobId(row.getObject(column, UUID.class));
  }

  public static @Nullable JobId idOrNull(ResultSet row, String column) throws SQLException {
    UUID value = row.getObject(column, UUID.class);
    return value == null ? null : new JobId(value);
  }

  public static Lease lease(ResultSet row) throws SQLException {
    return new Lease(id(row, "id"), row.getInt("attempt"));
  }

  public static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  /** A moment read as seconds with a fraction, which is quicker to read than a date. */
  public static Instant epoch(double seconds) {
    return Instant.EPOCH.plusNanos(Math.round(seconds * 1e6) * 1_000);
  }

  /** From the columns {@code created_at} and {@code id}. */
  public static JobCursor cursor(ResultSet row) throws SQLException {
    return new JobCursor(instant(row, "created_at"), id(row, "id"));
  }

  public static @Nullable Instant instantOrNull(ResultSet row, String column) throws SQLException {
    OffsetDateTime value = row.getObject(column, OffsetDateTime.class);
    return value == null ? null : value.toInstant();
  }

  public static @Nullable Json jsonOrNull(ResultSet row, String column) throws SQLException {
    String value = row.getString(column);
    return value == null ? null : new Json(value);
  }

  public static @Nullable Integer intOrNull(ResultSet row, String column) throws SQLException {
    int value = row.getInt(column);
    return row.wasNull() ? null : value;
  }

  public static @Nullable Double doubleOrNull(ResultSet row, String column) throws SQLException {
    double value = row.getDouble(column);
    return row.wasNull() ? null : value;
  }

  public static @Nullable Boolean booleanOrNull(ResultSet row, String column) throws SQLException {
    boolean value = row.getBoolean(column);
    return row.wasNull() ? null : value;
  }

  public static @Nullable Duration millisOrNull(ResultSet row, String column) throws SQLException {
    long value = row.getLong(column);
    return row.wasNull() ? null : Duration.ofMillis(value);
  }
}
