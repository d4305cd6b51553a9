package dev.holdfast.queue.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns off the driver's prepared statements behind a pooler. In transaction mode each transaction
 * may run on another connection of the server, which does not know what was prepared on the last
 * one. A pooler tells its clients a process id that is not the server's.
 */
final class Poolers {
  private static final Logger log = LoggerFactory.getLogger(Poolers.class);
  private static final Map<DataSource, Boolean> KNOWN =
      Collections.synchronizedMap(new WeakHashMap<>());

  private Poolers() {}

  /** Asks once per data source; to be called for every connection that it gives. */
  static void prepare(DataSource source, Connection connection) throws SQLException {
    if (!connection.isWrapperFor(PGConnection.class)) {
      return;
    }
    PGConnection driver = connection.unwrap(PGConnection.class);
    if (driver.getPrepareThreshold() == 0) {
      return; // or whoever made the connection has seen to it
    }
    Boolean pooled = KNOWN.get(source);
    if (pooled == null) {
      pooled = isPooled(driver, connection);
      if (KNOWN.put(source, pooled) == null && pooled) {
        log.info("connected through a pooler: statements are not prepared on the server");
      }
    }
    if (pooled) {
      driver.setPrepareThreshold(0);
    }
  }

  private static boolean isPooled(PGConnection driver, Connection connection) throws SQLException {
    boolean begun = !connection.getAutoCommit();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT pg_backend_pid()")) {
      rows.next();
      return rows.getInt(1) != driver.getBackendPID();
    } finally {
      if (begun) {
        connection.rollback();
      }
    }
  }
}
