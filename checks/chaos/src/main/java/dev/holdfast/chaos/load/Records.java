package dev.holdfast.chaos.load;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.job.JobId;
import dev.holdfast.worker.handler.JobContext;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * What handlers did, in tables of their own beside the jobs. They write it on a connection of their
 * own that no fault but the end of the database breaks, so that a handler that has lost its lease
 * is heard as well.
 */
public final class Records {
  /** The variables that tell a worker process where to write. */
  public static final String URL = "CHAOS_RECORDS_URL";

  public static final String USER = "CHAOS_RECORDS_USER";
  public static final String PASSWORD = "CHAOS_RECORDS_PASSWORD";

  private Records() {}

  /** Made where a handler first needs it: in the process of a worker. */
  private static final class Pool {
    private static final HikariDataSource POOL = new HikariDataSource(config());

    private static HikariConfig config() {
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(System.getenv(URL));
      config.setUsername(System.getenv(USER));
      config.setPassword(System.getenv(PASSWORD));
      config.setMaximumPoolSize(4);
      config.setMinimumIdle(0);
      config.setConnectionTimeout(3_000);
      config.setInitializationFailTimeout(-1);
      return config;
    }
  }

  static HikariDataSource pool() {
    return Pool.POOL;
  }

  /**
   * Where a worker process writes. Without a flush of its own: what is recorded before a job is
   * settled is flushed with that. Where the server crashes between the two, the record is lost, and
   * the worker settles the job when the server is back.
   */
  public static String url(String direct) {
    return direct + (direct.contains("?") ? "&" : "?") + "options=-c%20synchronous_commit=off";
  }

  /** Nothing in these tables is unique: what happens twice is found by the checks. */
  public static void create(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          """
          CREATE SCHEMA chaos;
          CREATE TABLE chaos.ran (job uuid NOT NULL, attempt int NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp());
          CREATE TABLE chaos.effect (job uuid NOT NULL, attempt int NOT NULL);
          CREATE TABLE chaos.refused (job uuid NOT NULL, attempt int NOT NULL,
            write text NOT NULL DEFAULT '');
          CREATE TABLE chaos.workspace (tree text NOT NULL);
          CREATE TABLE chaos.first_tick (schedule text PRIMARY KEY, first timestamptz NOT NULL);
          CREATE TABLE chaos.step_done (job uuid NOT NULL, attempt int NOT NULL, step text NOT NULL)
          """);
    }
  }

  /** When a new schedule will fire for the first time. */
  public static void schedule(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "INSERT INTO chaos.first_tick SELECT name, coalesce(last_fired_at, next_fire_at)"
              + " FROM holdfast.schedule");
    }
  }

  /** What the steps of a workspace job leave. */
  public static void workspaces(DataSource database, WorkspaceJobs jobs) throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement statement =
            connection.prepareStatement("INSERT INTO chaos.workspace VALUES (?)")) {
      statement.setString(1, jobs.tree());
      statement.executeUpdate();
    }
  }

  /** A handler has begun. */
  static void ran(JobContext context) throws SQLException {
    insert("INSERT INTO chaos.ran (job, attempt) VALUES (?, ?)", context);
  }

  /** A write of a handler was refused because it no longer held the job. */
  static void refused(JobContext context, String write) throws SQLException {
    insert(
        "INSERT INTO chaos.refused (job, attempt, write) VALUES (?, ?, '" + write + "')", context);
  }

  static void stepDone(JobContext context, String step) throws SQLException {
    insert(
        "INSERT INTO chaos.step_done (job, attempt, step) VALUES (?, ?, '" + step + "')", context);
  }

  /** In the transaction that settles the job. */
  static void effect(Connection connection, JobContext context) throws SQLException {
    insert(connection, "INSERT INTO chaos.effect (job, attempt) VALUES (?, ?)", context);
  }

  private static void insert(String sql, JobContext context) throws SQLException {
    try (Connection connection = Pool.POOL.getConnection()) {
      insert(connection, sql, context);
    }
  }

  private static void insert(Connection connection, String sql, JobContext context)
      throws SQLException {
    JobId job = context.id();
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setObject(1, job.value());
      statement.setInt(2, context.lease().attempt());
      statement.executeUpdate();
    }
  }
}
