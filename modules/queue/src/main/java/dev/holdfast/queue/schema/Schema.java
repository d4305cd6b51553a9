package dev.holdfast.queue.schema;

import dev.holdfast.model.ops.DatabaseVersion;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.DatabaseException.Reason;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Is this a database Holdfast can trust its jobs to? Asked once, before anything is written. */
public final class Schema {
  public static final int VERSION = Script.LAST;
  private static final int OLDEST_SERVER = 140_000;

  private static final Sql SERVER =
      Sql.of(
          """
      SELECT current_setting('server_version_num')::int AS number,
             current_setting('server_version') AS version,
             current_setting('fsync')::bool AS durable,
             pg_is_in_recovery() AS standby,
             current_setting('transaction_read_only')::bool AS read_only
      """);

  // Tables without a record of their version are those of a snapshot that had none.
  private static final Sql TABLES =
      Sql.of(
          """
      SELECT to_regclass('holdfast.schema_version') IS NOT NULL AS recorded,
             to_regclass('holdfast.job') IS NOT NULL AS made
      """);

  private static final Sql RECORDED =
      Sql.of("SELECT version, digest FROM holdfast.schema_version ORDER BY version");

  private static final Sql OLDEST =
      Sql.of("SELECT oldest_version FROM holdfast.schema_compatibility");

  private static final Logger log = LoggerFactory.getLogger(Schema.class);

  /** The newest version that was logged: a server looks every few seconds. */
  private static final AtomicInteger LOGGED = new AtomicInteger();

  private Schema() {}

  private record Server(
      int number, String version, boolean durable, boolean standby, boolean readOnly) {}

  /** A row of holdfast.schema_version. The digest is null where another program ran the script. */
  private record Recorded(int version, @Nullable String digest) {}

  /**
   * Throws when the server is too old or would lose what it acknowledged, or the schema is too new.
   *
   * @return the version of the schema, 0 when there is none
   */
  static int checkBeforeMigration(Connection connection, boolean allowUnsafe) throws SQLException {
    checkServer(connection, allowUnsafe);
    List<Recorded> recorded = recorded(connection);
    int version = newest(recorded);
    checkNotTooNew(connection, version);
    for (Script script : Script.upTo(version)) {
      for (Recorded row : recorded) {
        if (row.version() == script.version()
            && row.digest() != null
            && !row.digest().equals(script.digest())) {
          throw otherSnapshot();
        }
      }
    }
    return version;
  }

  /** Of the newest migration that was applied; 0 when none was. */
  static int versionOf(Connection connection) throws SQLException {
    return newest(recorded(connection));
  }

  public static void check(Connection connection, boolean allowUnsafe) throws SQLException {
    checkWritable(connection, checkServer(connection, allowUnsafe));
    List<Recorded> recorded = recorded(connection);
    if (recorded.isEmpty()) {
      throw new DatabaseException(
          Reason.SCHEMA_MISSING,
          "the database has no schema 'holdfast' yet: " + migrate(connection),
          null);
    }
    int version = newest(recorded);
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
    return new DatabaseVersion(server(connection).version(), versionOf(connection));
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

  /** What cannot write passes every other check, and would then fail with its first claim. */
  private static void checkWritable(Connection connection, Server server) throws SQLException {
    if (server.standby()) {
      throw new DatabaseException(
          Reason.READ_ONLY,
          "the server is a standby, where nothing can be written: connect to the primary",
          null);
    }
    // Of a read-only connection the driver tells the server only when a transaction begins.
    if (server.readOnly() || connection.isReadOnly()) {
      throw new DatabaseException(
          Reason.READ_ONLY,
          "the session is read-only, and Holdfast writes with every call: turn off"
              + " default_transaction_read_only for this role and database, and 'readOnly' of the pool"
              + " or the URL",
          null);
    }
  }

  private static Server checkServer(Connection connection, boolean allowUnsafe)
      throws SQLException {
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
                    row.getBoolean("standby"),
                    row.getBoolean("read_only")));
  }

  private static List<Recorded> recorded(Connection connection) throws SQLException {
    boolean recorded =
        TABLES
            .on(connection)
            .only(
                row -> {
                  if (row.getBoolean("made") && !row.getBoolean("recorded")) {
                    throw otherSnapshot();
                  }
                  return row.getBoolean("recorded");
                });
    return recorded
        ? RECORDED
            .on(connection)
            .list(row -> new Recorded(row.getInt("version"), row.getString("digest")))
        : List.of();
  }

  private static int newest(List<Recorded> recorded) {
    return recorded.isEmpty() ? 0 : recorded.getLast().version();
  }

  private static DatabaseException otherSnapshot() {
    return new DatabaseException(
        Reason.SCHEMA_OLD,
        "the schema 'holdfast' was made by another snapshot of Holdfast, and before 1.0 there is"
            + " no way from one to the next: use an empty database, or delete the folder of"
            + " 'holdfast dev'",
        null);
  }
}
