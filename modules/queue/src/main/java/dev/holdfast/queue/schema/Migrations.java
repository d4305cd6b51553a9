package dev.holdfast.queue.schema;

import dev.holdfast.queue.jdbc.Connections;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;

/**
 * Brings the schema up to date. Each version is one transaction and one script, which records
 * itself in the table schema_version: whatever runs the scripts, in their order, leaves a schema
 * that this continues from.
 */
public final class Migrations {
  // The letters of "holdfast", as a number: no application takes this lock by accident.
  private static final String LOCK = "SELECT pg_advisory_xact_lock(x'686f6c6466617374'::bigint)";

  private Migrations() {}

  /** How many migrations were applied, and the version the schema has now. */
  public record Result(int applied, int version) {}

  /** A migration that was not applied yet. */
  public record Pending(int version, String script, String sql) {}

  /** Creates the schema, or brings it up to date. Any number of processes may do so at once. */
  public static Result apply(DataSource dataSource, boolean allowUnsafe) {
    int before = check(dataSource, allowUnsafe);
    int applied = 0;
    try (Connection connection = Connections.open(dataSource)) {
      for (Script script : Script.after(before)) {
        applied += applied(connection, script) ? 1 : 0;
      }
    } catch (SQLException failed) {
      throw SqlErrors.ofMigration(failed);
    }
    return new Result(applied, Math.max(before, Schema.VERSION));
  }

  /** What {@link #apply} would do; changes nothing. */
  public static List<Pending> pending(DataSource dataSource, boolean allowUnsafe) {
    return Script.after(check(dataSource, allowUnsafe)).stream()
        .map(script -> new Pending(script.version(), script.name(), script.recordedSql()))
        .toList();
  }

  /** The version of the schema, 0 when there is none. */
  private static int check(DataSource dataSource, boolean allowUnsafe) {
    try (Connection connection = Connections.open(dataSource)) {
      return Schema.checkBeforeMigration(connection, allowUnsafe);
    } catch (SQLException e) {
      throw SqlErrors.thrown("migrate", e);
    }
  }

  /**
   * In a transaction of its own, without the limits of the session on a long statement, unless
   * another process has applied it meanwhile. Whatever the pool's isolation level is, what that
   * process has committed is seen once the lock is free.
   */
  private static boolean applied(Connection connection, Script script) throws SQLException {
    boolean auto = connection.getAutoCommit();
    int isolation = connection.getTransactionIsolation();
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    connection.setAutoCommit(false);
    int timeout = connection.getNetworkTimeout();
    connection.setNetworkTimeout(Runnable::run, 0);
    try (Statement statement = connection.createStatement()) {
      statement.setEscapeProcessing(false);
      statement.execute("SET LOCAL statement_timeout = 0");
      statement.execute("SET LOCAL lock_timeout = 0");
      statement.execute(LOCK);
      // Tables are in use: others wait behind a lock that this waits for.
      statement.execute("SET LOCAL lock_timeout = DEFAULT");
      boolean pending = Schema.versionOf(connection) < script.version();
      if (pending) {
        statement.execute(script.recordedSql());
      }
      connection.commit();
      return pending;
    } catch (SQLException | DatabaseException failed) {
      rollBack(connection, failed);
      throw failed;
    } finally {
      if (!connection.isClosed()) {
        connection.setNetworkTimeout(Runnable::run, timeout);
        connection.setAutoCommit(auto);
        connection.setTransactionIsolation(isolation);
      }
    }
  }

  private static void rollBack(Connection connection, Exception because) {
    try {
      connection.rollback();
    } catch (SQLException gone) {
      because.addSuppressed(gone);
    }
  }
}
