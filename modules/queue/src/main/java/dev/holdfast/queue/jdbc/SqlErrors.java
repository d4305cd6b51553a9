package dev.holdfast.queue.jdbc;

import dev.holdfast.queue.jdbc.DatabaseException.Reason;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.Set;

/** What an SQLException means for its caller. */
public final class SqlErrors {
  private static final String SERIALIZATION = "40001";
  private static final String DEADLOCK = "40P01";
  // Serialization failure, deadlock; too many connections; not the primary any more.
  private static final Set<String> PASSING = Set.of(SERIALIZATION, DEADLOCK, "53300", "25006");
  // Shutting down, crashed, starting.
  private static final Set<String> NOT_SERVING = Set.of("57P01", "57P02", "57P03");
  private static final String TIME_LIMIT = "57014";
  private static final String LOCK_NOT_FREE = "55P03";
  // Cancelled by its time limit, a lock that did not come free: waited long enough for one call.
  private static final Set<String> WAITED = Set.of(TIME_LIMIT, LOCK_NOT_FREE);
  // The last is the driver's: the server wants a password, and the driver has none.
  private static final Set<String> WRONG_LOGIN = Set.of("28000", "28P01", "08004");
  private static final String NO_PRIVILEGE = "42501";
  private static final String READ_ONLY = "25006";
  // The class of a full disk, of no memory and of too many connections.
  private static final String NO_RESOURCES = "53";
  private static final Set<String> NO_SCHEMA = Set.of("42P01", "3F000", "42703", "42883");

  private SqlErrors() {}

  /** True when a retry of the same call can succeed. */
  public static boolean isTransient(SQLException error) {
    String state = state(error);
    // A pool that could not log in calls it a transient error, with the server's code.
    return !WRONG_LOGIN.contains(state)
        && (isOutage(error)
            || PASSING.contains(state)
            || error instanceof SQLTransientException
            || error instanceof SQLRecoverableException);
  }

  /** True when the server cannot be reached, or does not take connections for now. */
  public static boolean isOutage(SQLException error) {
    String state = state(error);
    return (state.startsWith("08") && !WRONG_LOGIN.contains(state)) || NOT_SERVING.contains(state);
  }

  /** True when two transactions conflicted: the server has rolled back one of them. */
  static boolean isConflict(SQLException error) {
    return state(error).startsWith("40");
  }

  static boolean waited(SQLException error) {
    return WAITED.contains(state(error));
  }

  /**
   * True when nothing can be written here: the server is a standby, or the transaction is
   * read-only.
   */
  public static boolean isReadOnly(SQLException error) {
    return state(error).equals(READ_ONLY);
  }

  /** True when a lock did not come free within the limit on that. */
  public static boolean isLockNotFree(SQLException error) {
    return state(error).equals(LOCK_NOT_FREE);
  }

  /** True when what was sent cannot be stored: not JSON, or text that PostgreSQL cannot store. */
  public static boolean isBadData(SQLException error) {
    String state = state(error);
    return state.startsWith("22") || state.equals("54001");
  }

  /** True when the server cannot make a value of what it has stored: too large, or damaged. */
  public static boolean isUnreadable(SQLException error) {
    String state = state(error);
    return state.startsWith("22") || state.startsWith("54") || state.startsWith("XX");
  }

  public static boolean isOutOfMemory(SQLException error) {
    return state(error).equals("53200");
  }

  public static boolean isTimeLimit(SQLException error) {
    return state(error).equals(TIME_LIMIT);
  }

  /** True when a row with the same key was there before. */
  public static boolean isThereAlready(SQLException error) {
    return state(error).equals("23505");
  }

  /** True when a limit of the server is reached, such as that of its notification queue. */
  public static boolean isOverLimit(SQLException error) {
    return state(error).equals("54000");
  }

  public static RuntimeException thrown(String verb, SQLException error) {
    return new DatabaseException(reason(error), verb + ": " + error.getMessage(), error);
  }

  /** Of a statement in a transaction of the caller's. */
  public static RuntimeException inCallersTransaction(String verb, SQLException error) {
    return isReadOnly(error)
        ? new DatabaseException(
            Reason.READ_ONLY,
            verb
                + ": the transaction is read-only, and a job cannot be written in it: leave out"
                + " readOnly, as of @Transactional(readOnly = true), or enqueue outside of it ("
                + error.getMessage()
                + ")",
            error)
        : thrown(verb, error);
  }

  /** That ended a migration: each is one transaction, so nothing is left half done. */
  public static RuntimeException ofMigration(SQLException error) {
    String why = " (" + error.getMessage() + ")";
    return switch (state(error)) {
      case NO_PRIVILEGE ->
          new DatabaseException(
              Reason.NOT_ALLOWED,
              "the user may not change the schema 'holdfast': migrate as its owner, or as one who"
                  + " may create it (GRANT CREATE ON DATABASE ... TO ...)"
                  + why,
              error);
      case READ_ONLY ->
          new DatabaseException(
              Reason.READ_ONLY,
              "the server is read-only, as a standby is: name the primary in"
                  + " HOLDFAST_DATABASE_URL"
                  + why,
              error);
      case DEADLOCK, SERIALIZATION ->
          new DatabaseException(
              Reason.UNAVAILABLE,
              "another transaction blocked the migration, which was rolled back: run it again"
                  + why,
              error);
      default ->
          // What has no code is not from the server: a pool's word for a connection it has given
          // up.
          isTransient(error) || state(error).isEmpty()
              ? new DatabaseException(
                  Reason.UNAVAILABLE,
                  "the connection was lost during the migration, which is undone: run it again once"
                      + " the server is back"
                      + why,
                  error)
              : thrown("migrate", error);
    };
  }

  private static Reason reason(SQLException error) {
    String state = state(error);
    if (isTransient(error) || waited(error) || state.startsWith(NO_RESOURCES)) {
      return Reason.UNAVAILABLE;
    } else if (WRONG_LOGIN.contains(state)) {
      return Reason.LOGIN_REFUSED;
    } else if (state.equals(NO_PRIVILEGE)) {
      return Reason.NOT_ALLOWED;
    } else if (NO_SCHEMA.contains(state)) {
      return Reason.SCHEMA_MISSING;
    } else {
      return Reason.OTHER;
    }
  }

  static String state(SQLException error) {
    return error.getSQLState() == null ? "" : error.getSQLState();
  }
}
