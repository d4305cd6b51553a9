package dev.holdfast.spring;

import dev.holdfast.CurrentTransaction;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction that Spring has bound to the calling thread for this data source, by JDBC or by
 * JPA. One of another data source is not joined: the job could not commit with it.
 */
final class SpringTransaction implements CurrentTransaction {
  private final DataSource dataSource;

  SpringTransaction(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /**
   * Transactions are bound to the data source behind such a proxy. Holdfast itself must not use the
   * proxy: its own statements would become part of whatever transaction the caller is in.
   */
  static DataSource target(DataSource dataSource) {
    DataSource target =
        dataSource instanceof TransactionAwareDataSourceProxy proxy
            ? proxy.getTargetDataSource()
            : null;
    return target == null ? dataSource : target(target);
  }

  @Override
  public @Nullable Connection connection() {
    if (!TransactionSynchronizationManager.isActualTransactionActive()
        || !(TransactionSynchronizationManager.getResource(dataSource)
            instanceof ConnectionHolder holder)) {
      return null;
    }
    Connection connection = holder.getConnection();
    try {
      // In the transaction of another resource, a connection may be bound that is in none.
      return connection.getAutoCommit() ? null : connection;
    } catch (SQLException e) {
      throw SqlErrors.thrown("enqueue", e);
    }
  }
}
