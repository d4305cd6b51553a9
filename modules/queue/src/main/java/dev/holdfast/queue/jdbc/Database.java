package dev.holdfast.queue.jdbc;

import dev.holdfast.model.value.Jitter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs each verb on a connection, in one place: callers wait in order, transient errors are tried
 * again, every call is observed.
 *
 * <p>Every verb but the claim may be run twice. A commit whose answer was lost is therefore simply
 * run again, and finds its own work done: by the id the client chose, or by the attempt it named.
 */
public final class Database implements AutoCloseable {
  // The last try comes after more than half a second: so long a pool may take connections that were
  // used a moment ago for good ones, though the server has restarted.
  private static final int TRIES = 5;
  private static final Duration RETRY_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Duration PERMIT_TIMEOUT = Duration.ofSeconds(30);

  // Whatever the pool's default is: in a stricter one a statement that waited for a lock would not
  // see what the holder of that lock has done.
  private static final String READ_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n";

  /**
   * Two statements that begin a transaction in which statements are planned as in {@link
   * Sql.Call#listByKey}, for {@link #transactBegunByWork}. Nor by bitmaps: rows that are wanted in
   * the order of an index would then be sorted, all of them, before the first is given.
   */
  public static final String BEGIN_BY_KEY =
      READ_COMMITTED
          + "SELECT "
          + Rows.BY_INDEX
          + ",\n       set_config('enable_bitmapscan', 'off', true);\n";

  public static final int BEGIN_STATEMENTS = 2;

  private static final Sql NOW = Sql.of("SELECT clock_timestamp() AS now");

  private static final Sql ANYTHING = Sql.of("SELECT 1");

  /** Work on a connection in auto-commit mode. */
  @FunctionalInterface
  public interface Work<T extends @Nullable Object> {
    T on(Connection connection) throws SQLException;
  }

  private final Connections connections;
  private final StatementObserver observer;
  private final OutageLog outages;
  // Fair: with many virtual threads on a small pool an unfair queue starves some for seconds.
  private final Semaphore permits;

  private Database(
      Connections connections, StatementObserver observer, OutageLog outages, int permits) {
    this.connections = connections;
    this.observer = observer;
    this.outages = outages;
    this.permits = new Semaphore(permits, true);
  }

  public static Database pooled(DataSource pool, StatementObserver observer, int connections) {
    return new Database(new Connections.Pooled(pool), observer, new OutageLog(), connections);
  }

  /** One connection kept to itself, so that nothing else can starve its user. */
  public Database dedicated(DataSource source, Duration answerWithin) {
    return new Database(new Connections.Dedicated(source, answerWithin), observer, outages, 1);
  }

  public <T extends @Nullable Object> T run(String verb, Work<T> work) {
    return observed(verb, work, TRIES);
  }

  /** For a verb that would do more when run again: what became of it is for the caller to find. */
  public <T extends @Nullable Object> T runOnce(String verb, Work<T> work) {
    return observed(verb, work, 1);
  }

  private <T extends @Nullable Object> T observed(String verb, Work<T> work, int most) {
    long start = System.nanoTime();
    Throwable error = null;
    try {
      T answer = tried(verb, work, most);
      outages.answered(start);
      return answer;
    } catch (RuntimeException | Error thrown) {
      error = thrown;
      outages.failed(start, thrown);
      throw thrown;
    } finally {
      observer.ran(verb, Duration.ofNanos(System.nanoTime() - start), error);
    }
  }

  /** Runs a verb of more than one statement, in one transaction. */
  public <T extends @Nullable Object> T transact(String verb, Work<T> work) {
    return run(verb, connection -> inTransaction(connection, work));
  }

  /**
   * One transaction whose statements know their rows by key, planned as in {@link
   * Sql.Call#listByKey}.
   */
  public <T extends @Nullable Object> T transactByKey(String verb, Work<T> work) {
    return run(verb, connection -> inTransaction(connection, Rows.ONE_PLAN, work));
  }

  /** One transaction, in which no statement waits longer than this for a lock. */
  public <T extends @Nullable Object> T transactWithin(Duration lock, String verb, Work<T> work) {
    return run(verb, connection -> inTransaction(connection, limitOnLocks(lock), work));
  }

  /** Gives no row where a limit is set already: that one stays. */
  public static String limitOnLocks(Duration limit) {
    return "SELECT set_config('lock_timeout', '%d', true) WHERE current_setting('lock_timeout') = '0'"
        .formatted(limit.toMillis());
  }

  /**
   * One transaction, sent once, whose first statement begins with {@link #BEGIN_BY_KEY}: this saves
   * the round trip that other transactions begin with.
   */
  public <T extends @Nullable Object> T transactBegunByWork(String verb, Work<T> work) {
    return runOnce(verb, connection -> committed(connection, work));
  }

  private <T extends @Nullable Object> T tried(String verb, Work<T> work, int most) {
    long start = System.nanoTime();
    Duration pause = FIRST_PAUSE;
    for (int tries = 1; ; tries++) {
      try {
        return once(verb, work);
      } catch (SQLException e) {
        // Bounded in time as well: a pool may take half a minute to find that the server does not
        // answer. A deadlock may have taken as long to be detected, and is resolved by now.
        boolean late =
            !SqlErrors.isConflict(e) && System.nanoTime() - start > RETRY_TIMEOUT.toNanos();
        if (!SqlErrors.isTransient(e) || tries == most || late) {
          throw SqlErrors.thrown(verb, e);
        }
        LockSupport.parkNanos(Jitter.upperHalf(pause).toNanos());
        pause = pause.multipliedBy(4);
      }
    }
  }

  /** What the database's clock says. */
  public Instant now() {
    return run("now", connection -> NOW.on(connection).only(row -> Rows.instant(row, "now")));
  }

  /** Opens the connection, if it is one that is kept, and asks on it whether the server answers. */
  public void connect() throws SQLException {
    once("connect", connection -> ANYTHING.on(connection).found());
  }

  /** Gives the connection back, if it is one that is kept, unless it is in use now. */
  public void release() {
    if (connections instanceof Connections.Dedicated kept) {
      kept.release(Duration.ZERO);
    }
  }

  private <T extends @Nullable Object> T once(String verb, Work<T> work) throws SQLException {
    acquirePermit(verb);
    try {
      return connections.use(work);
    } finally {
      permits.release();
    }
  }

  private void acquirePermit(String verb) {
    try {
      if (!permits.tryAcquire(PERMIT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new DatabaseException(
            DatabaseException.Reason.UNAVAILABLE,
            verb
                + ": no database connection became free within "
                + PERMIT_TIMEOUT.toSeconds()
                + " s",
            null);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new DatabaseException(
          DatabaseException.Reason.INTERRUPTED,
          verb + ": interrupted before it began",
          interrupted);
    }
  }

  public static <T extends @Nullable Object> T inTransaction(Connection connection, Work<T> work)
      throws SQLException {
    return inTransaction(connection, "", work);
  }

  /**
   * @param settings statements, to hold in this transaction alone
   */
  public static <T extends @Nullable Object> T inTransaction(
      Connection connection, String settings, Work<T> work) throws SQLException {
    return committed(
        connection,
        in -> {
          try (Statement statement = in.createStatement()) {
            statement.execute(READ_COMMITTED + settings);
          }
          return work.on(in);
        });
  }

  private static <T extends @Nullable Object> T committed(Connection connection, Work<T> work)
      throws SQLException {
    connection.setAutoCommit(false);
    try {
      T answer = work.on(connection);
      connection.commit();
      return answer;
    } catch (SQLException | RuntimeException | Error thrown) {
      try {
        connection.rollback();
      } catch (SQLException e) {
        thrown.addSuppressed(e);
      }
      throw thrown;
    } finally {
      if (!connection.isClosed()) {
        connection.setAutoCommit(true);
      }
    }
  }

  @Override
  public void close() {
    connections.close();
  }
}
