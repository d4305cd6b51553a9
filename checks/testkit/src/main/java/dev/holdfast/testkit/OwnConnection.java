package dev.holdfast.testkit;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One connection that no pool can run out of, for one statement at a time. */
final class OwnConnection implements Sql.Lender, AutoCloseable {
  private final ReentrantLock lock = new ReentrantLock();
  private final Supplier<Connection> connect;
  private @Nullable Connection connection;

  OwnConnection(Supplier<Connection> connect) {
    this.connect = connect;
  }

  @Override
  public Connection lend() throws SQLException {
    lock.lock();
    try {
      Connection current = connection;
      if (current == null || current.isClosed()) {
        current = connect.get();
        connection = current;
      }
      return current;
    } catch (SQLException | RuntimeException failed) {
      lock.unlock();
      throw failed;
    }
  }

  @Override
  public void takeBack(Connection lent) {
    lock.unlock();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (SQLException e) {
      throw new IllegalStateException("cannot close a connection", e);
    } finally {
      lock.unlock();
    }
  }
}
