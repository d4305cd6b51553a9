package dev.holdfast.queue.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The database could not do what was asked. The reason says whether a retry can help. */
public final class DatabaseException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What is wrong. */
  public enum Reason {
    /** Down, restarting or out of connections: try again. */
    UNAVAILABLE,
    /** Another transaction, not ended yet, holds the unique key: try again once it has. */
    UNIQUE_KEY_HELD,
    /** The calling thread was interrupted before anything was sent. */
    INTERRUPTED,
    LOGIN_REFUSED,
    /** The user lacks a privilege. */
    NOT_ALLOWED,
    /** A standby, or one that was made read-only: nothing can be written there. */
    READ_ONLY,
    /** The pool has fewer connections than a worker needs. */
    POOL_TOO_SMALL,
    TOO_OLD,
    NOT_DURABLE,
    SCHEMA_MISSING,
    SCHEMA_OLD,
    SCHEMA_NEWER,
    OTHER
  }

  private final Reason reason;

  public DatabaseException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /** What went wrong, for programs. */
  public Reason reason() {
    return reason;
  }

  /**
   * True when the database answers, but other transactions blocked this call: it waited too long
   * for a lock or a connection, or lost a conflict with them.
   */
  public boolean isBusy() {
    // Without a cause nothing was sent: no connection became free.
    return isTransient()
        && (getCause() == null
            || (getCause() instanceof SQLException cause
                && (SqlErrors.waited(cause) || SqlErrors.isConflict(cause))));
  }

  /** True when the database does not answer at all; the queue logs that once for all callers. */
  public boolean isOutage() {
    return isTransient() && !isBusy();
  }

  /** Whether trying again may help. */
  public boolean isTransient() {
    return reason == Reason.UNAVAILABLE || reason == Reason.UNIQUE_KEY_HELD;
  }
}
