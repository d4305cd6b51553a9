package dev.holdfast.app.config;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.embedded.Running;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.DatabaseException.Reason;
import dev.holdfast.queue.jdbc.StatementObserver;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A pool of connections to the database, with a time limit on everything. */
public final class Access implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Access.class);
  private static final String SESSION =
      "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s"
          + " -c jit=off";

  private final HikariDataSource pool;
  private final Holdfast holdfast;
  private final boolean allowUnsafe;

  private Access(HikariDataSource pool, boolean allowUnsafe, JobStore.Options options) {
    this.pool = pool;
    this.holdfast = Holdfast.on(pool, new JacksonCodec(), options);
    this.allowUnsafe = allowUnsafe;
  }

  /** Opens the database that the settings name, else the embedded one that runs in the folder. */
  public static Access open(Settings settings) {
    return open(settings, locate(settings));
  }

  public static Access open(Settings settings, DatabaseUrl url) {
    return open(settings, url, StatementObserver.NONE);
  }

  private static JobStore.Options options(Settings settings, StatementObserver observer) {
    return new JobStore.Options(
        JobStore.Options.DEFAULT.connections(), observer, settings.retries());
  }

  /**
   * @param observer is called for every statement
   */
  public static Access open(Settings settings, DatabaseUrl url, StatementObserver observer) {
    DatabaseConfig database = settings.database();
    JobStore.Options options = options(settings, observer);
    try {
      return new Access(pool(database, url, true), database.allowUnsafe(), options);
    } catch (HikariPool.PoolInitializationException failed) {
      throw cannotConnect(url, failed);
    } catch (RuntimeException malformed) {
      throw new CommandException(
          ExitCode.CONFIGURATION, "the database URL is not usable: " + malformed.getMessage());
    }
  }

  private static HikariDataSource pool(DatabaseConfig database, DatabaseUrl url, boolean limits) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url.jdbc());
    if (!url.user().isEmpty()) {
      config.setUsername(url.user());
    }
    if (!url.password().isEmpty()) {
      config.setPassword(url.password());
    }
    config.setPoolName("holdfast");
    config.setMaximumPoolSize(database.pool());
    config.setMinimumIdle(1);
    config.setConnectionTimeout(5_000);
    config.setValidationTimeout(3_000);
    config.setInitializationFailTimeout(1);
    config.addDataSourceProperty("ApplicationName", "holdfast");
    config.addDataSourceProperty("connectTimeout", "5");
    config.addDataSourceProperty("socketTimeout", "60");
    config.addDataSourceProperty("tcpKeepAlive", "true");
    if (limits) {
      config.addDataSourceProperty("options", SESSION);
    }
    try {
      return ReconnectingPool.of(config);
    } catch (HikariPool.PoolInitializationException failed) {
      if (limits && refusesOptions(failed)) {
        log.warn(
            "a pooler refuses start-up options: connected without the limits on statements, locks"
                + " and idle transactions; set them for the role");
        return pool(database, url, false);
      }
      throw failed;
    }
  }

  /** PgBouncer's words, unless its {@code ignore_startup_parameters} names them. */
  private static boolean refusesOptions(Throwable failed) {
    String why = String.valueOf(rootOf(failed).getMessage());
    return why.contains("startup parameter") && why.contains("options");
  }

  private static Throwable rootOf(Throwable failed) {
    Throwable cause = failed;
    while (cause.getCause() != null && !(cause instanceof SQLException)) {
      cause = cause.getCause();
    }
    return cause;
  }

  public static DatabaseUrl locate(Settings settings) {
    DatabaseUrl given = settings.database().at();
    if (given != null) {
      return given;
    }
    Path folder = settings.get("folder", Path.class);
    Optional<Running> running = EmbeddedPostgres.find(folder);
    if (running.isEmpty()) {
      throw new CommandException(
          ExitCode.DATABASE_AWAY,
          "no database: set "
              + Settings.variable("database.url")
              + ", or start 'holdfast dev' (nothing runs in "
              + folder.toAbsolutePath().normalize()
              + ")");
    }
    return new DatabaseUrl(running.get().jdbcUrl(), running.get().user(), running.get().password());
  }

  private static RuntimeException cannotConnect(DatabaseUrl url, Throwable failed) {
    Throwable cause = rootOf(failed);
    String state =
        cause instanceof SQLException sql && sql.getSQLState() != null ? sql.getSQLState() : "";
    String why = Terminal.oneLine(String.valueOf(cause.getMessage()));
    return switch (state) {
      case "28P01", "28000" ->
          new DatabaseException(
              Reason.LOGIN_REFUSED,
              url.shown() + " refused the login: check user and password (" + why + ")",
              cause);
      case "08004" ->
          new DatabaseException(
              Reason.LOGIN_REFUSED,
              url.shown()
                  + " refused the login: "
                  + (url.password().isEmpty()
                      ? "set "
                          + Settings.variable("database.password")
                          + ", or use a password file (~/.pgpass); PGPASSWORD is not read"
                      : "check user and password")
                  + " ("
                  + why
                  + ")",
              cause);
      case "3D000" ->
          new CommandException(
              ExitCode.DATABASE_UNFIT,
              url.shown() + " has no such database: create it with createdb (" + why + ")");
      default ->
          new CommandException(
              ExitCode.DATABASE_AWAY,
              "cannot reach " + url.shown() + ": is the server running there? (" + why + ")");
    };
  }

  /** Throws unless the database can be used and has the schema of this version. */
  public Access checked() {
    try {
      holdfast.store().check(allowUnsafe);
      return this;
    } catch (RuntimeException unfit) {
      close();
      throw unfit;
    }
  }

  /** Makes workers and servers that are started after this delete old jobs. */
  public void retain(Settings settings) {
    holdfast.retention(settings.retention().policy(), settings.storage().artifacts());
  }

  public Holdfast holdfast() {
    return holdfast;
  }

  public DataSource dataSource() {
    return pool;
  }

  public boolean allowsUnsafe() {
    return allowUnsafe;
  }

  @Override
  public void close() {
    holdfast.close();
    pool.close();
  }
}
