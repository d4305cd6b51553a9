package dev.holdfast.queue.schema;

import dev.holdfast.model.ops.DatabaseVersion;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.DatabaseException.Reason;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Is this a database Holdfast can trust its jobs to? Asked once, before anything is written. */
public final class Schema {
  public static final int VERSION = 1;
  static final String NAME = "holdfast";
  static final String HISTORY = "flyway_schema_history";
  private static final int OLDEST_SERVER = 140_000;

  private static final Sql SERVER =
      Sql.of(
          """
      SELECT current_setting('server_version_num')::int AS number,
             current_setting('server_version') AS version,
             current_setting('fsync')::bool AS durable,
             to_regclass('holdfast.flyway_schema_history') IS NOT NULL AS has_schema
      """);

  private static final Sql CURRENT =
      Sql.of(
          """
          SELECT max(version::int) AS version FROM holdfast.flyway_schema_history
           WHERE success AND version IS NOT NULL
          """);

  private static final Sql OLDEST =
      Sql.of("SELECT oldest_version FROM holdfast.schema_compatibility");

  private static final Logger log = LoggerFactory.getLogger(Schema.class);

  /** The newest version that was logged: a server looks every few seconds. */
  private static final AtomicInteger LOGGED = new AtomicInteger();

  private Schema() {}

  private record Server(int number, String version, boolean durable, boolean hasSchema) {}

  /**
   * Throws when the server is too old or would lose what it acknowledged, or the schema is too new.
   *
   * @return the version of the schema, 0 when there is none
   */
  static int checkBeforeMigration(Connection connection, boolean allowUnsafe) throws SQLException {
    Server server = checked(connection, allowUnsafe);
    int version = version(connection, server).orElse(0);
    // Flyway itself takes a newer schema for a good one.
    checkNotTooNew(connection, version);
    return version;
  }

  public static void check(Connection connection, boolean allowUnsafe) throws SQLException {
    Server server = checked(connection, allowUnsafe);
    OptionalInt found = version(connection, server);
    if (found.isEmpty()) {
      throw new DatabaseException(
          Reason.SCHEMA_MISSING,
          "the database has no schema 'holdfast' yet: " + migrate(connection),
          null);
    }
    int version = found.getAsInt();
    if (version < VERSION) {
      throw new DatabaseException(
          Reason.SCHEMA_OLD,
          "the schema is at version %d, this Holdfast needs %d: %s"
              .formatted(version, VERSION, migrate(connection)),
          null);
    }
    checkNotTooNew(connection, version);
  }

  private static String migrate(Connection connection) throws SQLException {
    DatabaseMetaData about = connection.getMetaData();
    // Without the parameters, which may hold a password.
    String url = about.getURL().replaceFirst("^jdbc:", "").replaceFirst("\\?.*", "");
    return "run 'holdfast migrate --database %s', or call Migrations.apply(dataSource, false)"
        .formatted(
            url.replaceFirst("//", Matcher.quoteReplacement("//" + about.getUserName() + "@")));
  }

  public static DatabaseVersion about(Connection connection) throws SQLException {
    Server server = server(connection);
    return new DatabaseVersion(server.version(), version(connection, server).orElse(0));
  }

  /**
   * During an upgrade the schema is newer than the programs that still run, and some of them are
   * restarted: as long as migrations only added to it, they can work with it.
   */
  private static void checkNotTooNew(Connection connection, int version) throws SQLException {
    if (version <= VERSION) {
      return;
    }
    int oldest = OLDEST.on(connection).only(row -> row.getInt("oldest_version"));
    if (oldest > VERSION) {
      throw new DatabaseException(
          Reason.SCHEMA_NEWER,
          "the schema is at version %d and needs a Holdfast that knows version %d or newer; this one knows %d: upgrade Holdfast"
              .formatted(version, oldest, VERSION),
          null);
    }
    if (LOGGED.getAndSet(version) != version) {
      log.info(
          "the schema is at version {}, newer than the {} this Holdfast knows; it can work with it: upgrade Holdfast soon",
          version,
          VERSION);
    }
  }

  private static Server checked(Connection connection, boolean allowUnsafe) throws SQLException {
    Server server = server(connection);
    if (server.number() < OLDEST_SERVER) {
      throw new DatabaseException(
          Reason.TOO_OLD,
          "PostgreSQL " + server.version() + " is too old: Holdfast needs 14 or newer",
          null);
    }
    if (!server.durable() && !allowUnsafe) {
      throw new DatabaseException(
          Reason.NOT_DURABLE,
          "the server runs with fsync=off and may lose acknowledged jobs: turn fsync on,"
              + " or set HOLDFAST_DATABASE_ALLOW_UNSAFE=1 if they are not worth keeping",
          null);
    }
    return server;
  }

  private static Server server(Connection connection) throws SQLException {
    return SERVER
        .on(connection)
        .only(
            row ->
                new Server(
                    row.getInt("number"),
                    row.getString("version"),
                    row.getBoolean("durable"),
                    row.getBoolean("has_schema")));
  }

  /** Of the newest migration that was applied; empty when none was. */
  private static OptionalInt version(Connection connection, Server server) throws SQLException {
    if (!server.hasSchema()) {
      return OptionalInt.empty();
    }
    return CURRENT
        .on(connection)
        .only(
            row -> {
              int version = row.getInt("version");
              return row.wasNull() ? OptionalInt.empty() : OptionalInt.of(version);
            });
  }
}
