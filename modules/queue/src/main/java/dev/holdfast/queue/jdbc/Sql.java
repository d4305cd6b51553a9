package dev.holdfast.queue.jdbc;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.value.Tenant;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A statement whose parameters have names: {@code WHERE id = :job}. It is parsed once, when the
 * class that holds it is loaded; a call binds values to positions that are known by then.
 *
 * <p>A name that the statement does not have, one that is bound twice and one that is not bound at
 * all are mistakes in the program, and throw. So does a {@code ?}: it would be a parameter without
 * a name.
 */
public final class Sql {
  private final String text;
  private final String onePlan;
  private final List<String> names;
  // For each ? of the text, from left to right, the index of its name.
  private final int[] nameAt;

  private Sql(String text, List<String> names, int[] nameAt) {
    this.text = text;
    this.onePlan = Rows.ONE_PLAN + text;
    this.names = names;
    this.nameAt = nameAt;
  }

  /**
   * @param template SQL with named parameters, and with {@code ${name}} where a fragment goes
   * @param fragments names and texts in turn
   */
  public static Sql of(String template, String... fragments) {
    return parse(fragment(template, fragments));
  }

  /** Puts fragments into a template; the result is SQL, which may be a fragment itself. */
  public static String fragment(String template, String... fragments) {
    String text = template;
    for (int i = 0; i < fragments.length; i += 2) {
      String place = "${" + fragments[i] + "}";
      if (!text.contains(place)) {
        throw new IllegalArgumentException("no place for " + place + " in: " + template);
      }
      text = text.replace(place, fragments[i + 1].strip());
    }
    int missing = text.indexOf("${");
    if (missing >= 0) {
      throw new IllegalArgumentException("no fragment for " + text.substring(missing));
    }
    return text;
  }

  /** The statement as JDBC takes it, with {@code ?} for each parameter. */
  public String text() {
    return text;
  }

  /** The names of its parameters, in the order in which they first occur. */
  public List<String> names() {
    return names;
  }

  public Call on(Connection connection) {
    return new Call(connection);
  }

  private static Sql parse(String sql) {
    StringBuilder text = new StringBuilder(sql.length());
    List<String> names = new ArrayList<>();
    List<Integer> nameAt = new ArrayList<>();
    for (int i = 0; i < sql.length(); ) {
      int end = endOfToken(sql, i);
      if (isParameter(sql, i)) {
        String name = sql.substring(i + 1, end);
        if (!names.contains(name)) {
          names.add(name);
        }
        nameAt.add(names.indexOf(name));
        text.append('?');
      } else if (sql.charAt(i) == '?') {
        throw new IllegalArgumentException("a parameter without a name in: " + sql);
      } else {
        text.append(sql, i, end);
      }
      i = end;
    }
    return new Sql(
        text.toString(), List.copyOf(names), nameAt.stream().mapToInt(Integer::intValue).toArray());
  }

  /** Where the token that begins here ends: a literal, a comment, a cast, a parameter, a char. */
  private static int endOfToken(String sql, int from) {
    char c = sql.charAt(from);
    if (c == '\'' || c == '"') {
      return after(sql, String.valueOf(c), from + 1);
    } else if (sql.startsWith("--", from)) {
      return after(sql, "\n", from);
    } else if (sql.startsWith("/*", from)) {
      return after(sql, "*/", from);
    } else if (sql.startsWith("::", from)) {
      return from + 2;
    } else if (!isParameter(sql, from)) {
      return from + 1;
    }
    int end = from + 1;
    while (end < sql.length() && Character.isJavaIdentifierPart(sql.charAt(end))) {
      end++;
    }
    return end;
  }

  private static int after(String sql, String closing, int from) {
    int at = sql.indexOf(closing, from);
    return at < 0 ? sql.length() : at + closing.length();
  }

  private static boolean isParameter(String sql, int at) {
    return sql.charAt(at) == ':' && at + 1 < sql.length() && Character.isLetter(sql.charAt(at + 1));
  }

  /** One execution: values are bound by name, then the statement runs. */
  public final class Call {
    private final Connection connection;
    private final @Nullable Object[] values = new Object[names.size()];
    private final boolean[] bound = new boolean[names.size()];

    private Call(Connection connection) {
      this.connection = connection;
    }

    public Call set(String name, @Nullable Object value) {
      int index = names.indexOf(name);
      if (index < 0) {
        throw new IllegalArgumentException(
            "the statement has no parameter :%s, only %s: %s".formatted(name, names, text));
      }
      if (bound[index]) {
        throw new IllegalArgumentException(":%s is bound twice: %s".formatted(name, text));
      }
      values[index] = value;
      bound[index] = true;
      return this;
    }

    /** Binds an array with one element for each row. */
    public <T> Call array(
        String name, String type, List<T> rows, Function<T, @Nullable Object> column)
        throws SQLException {
      return set(name, Rows.array(connection, type, rows, column));
    }

    /** Binds {@code :job} and {@code :attempt}. */
    public Call lease(Lease lease) {
      return set("job", lease.job()).set("attempt", lease.attempt());
    }

    /** Binds {@code :jobs} and {@code :attempts}, arrays of one length. */
    public Call leases(List<Lease> leases) throws SQLException {
      return set("jobs", Rows.ids(connection, leases))
          .set("attempts", Rows.attempts(connection, leases));
    }

    /**
     * Binds {@code :tenant}. All tenants are an empty name and not a null: pgjdbc prepares a
     * statement anew whenever a null follows a text, and the new plan would not know what was set
     * for the first one.
     */
    public Call tenant(Tenant tenant) {
      return set("tenant", tenant.name());
    }

    /** Binds {@code :by} and {@code :reason}. */
    public Call pause(Pause.Draft pause) {
      return set("by", pause.by()).set("reason", pause.reason());
    }

    public <T> List<T> list(Rows.Reader<T> reader) throws SQLException {
      try (StatementLimit.Limited statement = prepare(text);
          ResultSet rows = statement.jdbc().executeQuery()) {
        return Rows.read(rows, reader);
      }
    }

    public <T> Optional<T> first(Rows.Reader<T> reader) throws SQLException {
      return list(reader).stream().findFirst();
    }

    /** The one row of a statement that always gives one. */
    public <T> T only(Rows.Reader<T> reader) throws SQLException {
      return list(reader).getFirst();
    }

    /** Whether the statement gives a row. */
    public boolean found() throws SQLException {
      return !list(row -> true).isEmpty();
    }

    /**
     * Like {@link #list}, for a statement that knows its rows by key or place and must never read
     * the table as a whole. One plan serves for all arrays it is given: made anew for each, it
     * would cost more than the execution. But a plan may be from a time when the table was small,
     * and then a scan looked cheap; so scans are switched off. Both settings are sent with the
     * statement and end with it. In a caller's transaction they are left alone, because they would
     * apply to what the caller does next.
     */
    public <T> List<T> listByKey(Rows.Reader<T> reader) throws SQLException {
      if (!connection.getAutoCommit()) {
        return list(reader);
      }
      // Both are sent at once and are one transaction.
      return listAfter(1, onePlan, reader);
    }

    /** Of a text with so many statements before the last: the rows of the last. */
    public <T> List<T> listAfter(int others, Rows.Reader<T> reader) throws SQLException {
      return listAfter(others, text, reader);
    }

    private <T> List<T> listAfter(int others, String sql, Rows.Reader<T> reader)
        throws SQLException {
      try (StatementLimit.Limited statement = prepare(sql)) {
        statement.jdbc().execute();
        for (int i = 0; i < others; i++) {
          statement.jdbc().getMoreResults();
        }
        try (ResultSet rows = statement.jdbc().getResultSet()) {
          return Rows.read(rows, reader);
        }
      }
    }

    /**
     * Like {@link #list}, for a text of two statements. The first takes a lock and says in its
     * column {@code read_committed} whether the second sees all that was committed before it had
     * the lock. Both are sent at once and are one transaction. Where the isolation is stricter they
     * are sent again, in a transaction that is not.
     */
    public <T> List<T> listAfterLock(Rows.Reader<T> reader) throws SQLException {
      if (!connection.getAutoCommit()) {
        return afterLock(reader).orElseThrow();
      }
      Optional<List<T>> rows = afterLock(reader);
      return rows.isPresent()
          ? rows.get()
          : Database.inTransaction(connection, in -> listAfterLock(reader));
    }

    private <T> Optional<List<T>> afterLock(Rows.Reader<T> reader) throws SQLException {
      try (StatementLimit.Limited statement = prepare(text)) {
        statement.jdbc().execute();
        try (ResultSet lock = statement.jdbc().getResultSet()) {
          if (!lock.next() || !lock.getBoolean("read_committed")) {
            return Optional.empty();
          }
        }
        statement.jdbc().getMoreResults();
        try (ResultSet rows = statement.jdbc().getResultSet()) {
          return Optional.of(Rows.read(rows, reader));
        }
      }
    }

    public int update() throws SQLException {
      try (StatementLimit.Limited statement = prepare(text)) {
        return statement.jdbc().executeUpdate();
      }
    }

    private StatementLimit.Limited prepare(String sql) throws SQLException {
      @Nullable Object[] positional = new Object[nameAt.length];
      for (int i = 0; i < positional.length; i++) {
        positional[i] = values[nameAt[i]];
        if (!bound[nameAt[i]]) {
          throw new IllegalStateException(
              ":%s is not bound: %s".formatted(names.get(nameAt[i]), text));
        }
      }
      return StatementLimit.USUAL.on(Rows.prepare(connection, sql, positional));
    }
  }
}
