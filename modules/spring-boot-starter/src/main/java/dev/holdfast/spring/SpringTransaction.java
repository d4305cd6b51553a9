package dev.holdfast.spring;

import dev.holdfast.CurrentTransaction;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction that Spring has bound to the calling thread for this data source, by JDBC or by
 * JPA. One of another data source cannot be joined: the job could not commit with it.
 */
final class SpringTransaction implements CurrentTransaction {
  private final DataSource dataSource;
  private final boolean allowForeign;
  private final Probe probe;

  /**
   * @param allowForeign whether what is written in a transaction that cannot be joined is committed
   *     at once, instead of refused
   */
  SpringTransaction(DataSource dataSource, boolean allowForeign) {
    this.dataSource = dataSource;
    this.allowForeign = allowForeign;
    this.probe = new Probe(dataSource);
  }

  /** Is only asked, and manages nothing. */
  private static final class Probe extends DataSourceTransactionManager {
    private static final long serialVersionUID = 1L;

    Probe(DataSource dataSource) {
      super(dataSource);
    }

    boolean isInTransaction() {
      return isExistingTransaction(doGetTransaction());
    }
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
    if (!TransactionSynchronizationManager.isActualTransactionActive()) {
      return null;
    }
    Connection connection = inTransaction();
    if (connection == null && !allowForeign) {
      throw new IllegalTransactionStateException(
          "the transaction of this thread is not one of Holdfast's data source and cannot be joined:"
              + " a job would be there at once, and stay if the transaction is rolled back. Use a"
              + " transaction of that data source, or leave this one on purpose"
              + " (Propagation.NOT_SUPPORTED), or set holdfast.allow-foreign-transactions=true");
    }
    return connection;
  }

  private @Nullable Connection inTransaction() {
    if (!(TransactionSynchronizationManager.getResource(dataSource)
        instanceof ConnectionHolder holder)) {
      return null;
    }
    // In the transaction of another resource, a connection that was used there is bound as well,
    // and nobody commits it. That of JPA is bound without being synchronized by itself.
    if (holder.isSynchronizedWithTransaction() && !probe.isInTransaction()) {
      return null;
    }
    Connection connection = holder.getConnection();
    try {
      return connection.getAutoCommit() ? null : connection;
    } catch (SQLException e) {
      throw SqlErrors.thrown("enqueue", e);
    }
  }
}
