package dev.holdfast.queue.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cancels statements that take too long. The driver can do that too, but sets a timer for each
 * statement, and nearly each of them wakes the timer's thread. Here one thread looks from time to
 * time, and ends when no statement was registered for a while.
 */
final class StatementLimit {
  private static final Logger log = LoggerFactory.getLogger(StatementLimit.class);
  private static final int LOOKS_WHEN_IDLE = 10;

  /** Of every statement. */
  static final StatementLimit USUAL =
      new StatementLimit(Duration.ofSeconds(30), Duration.ofSeconds(1));

  private final Duration limit;
  private final Duration between;
  private final Set<Limited> open = ConcurrentHashMap.newKeySet();
  private volatile boolean looking;

  /**
   * @param between the looks: a statement may take so much longer
   */
  StatementLimit(Duration limit, Duration between) {
    this.limit = limit;
    this.between = between;
  }

  /** A statement from its preparation until it is closed. */
  final class Limited implements AutoCloseable {
    private final PreparedStatement jdbc;
    private final long since = System.nanoTime();

    private Limited(PreparedStatement jdbc) {
      this.jdbc = jdbc;
    }

    PreparedStatement jdbc() {
      return jdbc;
    }

    private void cancelIfLate() {
      if (System.nanoTime() - since > limit.toNanos()) {
        try {
          jdbc.cancel();
        } catch (SQLException e) {
          log.debug("a statement that takes too long could not be cancelled", e);
        }
      }
    }

    @Override
    public void close() throws SQLException {
      open.remove(this);
      jdbc.close();
    }
  }

  Limited on(PreparedStatement jdbc) {
    Limited statement = new Limited(jdbc);
    open.add(statement);
    if (!looking) {
      look();
    }
    return statement;
  }

  private synchronized void look() {
    if (!looking) {
      looking = true;
      Thread.ofPlatform().daemon().name("holdfast-statement-limit").start(this::lookAgain);
    }
  }

  private void lookAgain() {
    for (int idle = 0; idle < LOOKS_WHEN_IDLE || !ends(); ) {
      LockSupport.parkNanos(between.toNanos());
      idle = open.isEmpty() ? idle + 1 : 0;
      open.forEach(Limited::cancelIfLate);
    }
  }

  /**
   * A statement added after this finds no thread and starts one; one added before it is seen here.
   */
  private boolean ends() {
    looking = false;
    if (open.isEmpty()) {
      return true;
    }
    synchronized (this) {
      boolean another = looking;
      looking = true;
      return another;
    }
  }

  boolean isLooking() {
    return looking;
  }
}
