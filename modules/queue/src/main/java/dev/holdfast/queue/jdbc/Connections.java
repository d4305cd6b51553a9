package dev.holdfast.queue.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Where a verb gets its connection from. */
public sealed interface Connections extends AutoCloseable {
  <T extends @Nullable Object> T use(Database.Work<T> work) throws SQLException;

  @Override
  void close();

  /** A pool may throw what stopped it at its first connection as a cause of something else. */
  static Connection open(DataSource source) throws SQLException {
    try {
      return source.getConnection();
    } catch (RuntimeException wrapped) {
      if (wrapped.getCause() instanceof SQLException error) {
        throw error;
      }
      throw wrapped;
    }
  }

  /** A connection of the pool for each call. */
  record Pooled(DataSource pool) implements Connections {
    @Override
    public <T extends @Nullable Object> T use(Database.Work<T> work) throws SQLException {
      try (Connection connection = Connections.open(pool)) {
        boolean auto = connection.getAutoCommit();
        if (!auto) {
          connection.setAutoCommit(true);
        }
        try {
          return work.on(connection);
        } finally {
          if (!auto && !connection.isClosed()) {
            connection.setAutoCommit(false);
          }
        }
      }
    }

    @Override
    public void close() {
      // The pool belongs to the caller.
    }
  }

  /** One permanent connection, opened again after an error. */
  final class Dedicated implements Connections {
    private static final Duration LEAVE = Duration.ofSeconds(5);

    private final DataSource source;
    private final Duration answerWithin;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean closed;
    private @Nullable Connection connection;
    private boolean auto;
    private int timeout;

    Dedicated(DataSource source, Duration answerWithin) {
      this.source = source;
      this.answerWithin = answerWithin;
    }

    @Override
    public <T extends @Nullable Object> T use(Database.Work<T> work) throws SQLException {
      lock.lock();
      try {
        return work.on(open());
      } catch (SQLException e) {
        if (SqlErrors.isTransient(e)) {
          drop();
        }
        throw e;
      } finally {
        if (closed) {
          returnToPool();
        }
        lock.unlock();
      }
    }

    private Connection open() throws SQLException {
      if (connection == null || connection.isClosed()) {
        connection = Connections.open(source);
        auto = connection.getAutoCommit();
        timeout = connection.getNetworkTimeout();
        connection.setAutoCommit(true);
        // A peer that vanished without closing the connection would otherwise block this thread.
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(answerWithin.toMillis()));
      }
      return connection;
    }

    private void drop() {
      if (connection != null) {
        try {
          connection.close();
        } catch (SQLException alreadyGone) {
          // which is what was wanted
        }
        connection = null;
      }
    }

    /** As it was: not every pool looks after that. */
    private void restore() {
      try {
        if (connection != null && !connection.isClosed()) {
          connection.setNetworkTimeout(Runnable::run, timeout);
          connection.setAutoCommit(auto);
        }
      } catch (SQLException e) {
        // The pool finds out for itself.
      }
    }

    private void returnToPool() {
      restore();
      drop();
    }

    /** Until it is used again. Nothing happens to one that is in use for longer than that. */
    void release(Duration atMost) {
      if (locked(atMost)) {
        try {
          returnToPool();
        } finally {
          lock.unlock();
        }
      }
    }

    private boolean locked(Duration atMost) {
      try {
        return lock.tryLock(atMost.toNanos(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return lock.tryLock();
      }
    }

    /** A caller that no longer waits returns the connection that it gets later. */
    @Override
    public void close() {
      closed = true;
      release(LEAVE);
    }
  }
}
