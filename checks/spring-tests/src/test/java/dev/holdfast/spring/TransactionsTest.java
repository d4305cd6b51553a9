package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Which transactions of the thread an enqueue joins, and what it does in others. */
@OnlyWithAll
@ExtendWith(DatabaseExtension.class)
class TransactionsTest {
  private TestDatabase database;
  private HikariDataSource orders;
  private final Job job = Job.of("send-mail");

  @BeforeEach
  void open(TestDatabase given) {
    database = given;
    orders = pool(given.empty(), true);
  }

  @AfterEach
  void close() {
    orders.close();
  }

  private static HikariDataSource pool(TestDatabase database, boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.setUsername(database.user());
    config.setPassword(database.password());
    config.setAutoCommit(autoCommit);
    config.setMaximumPoolSize(5);
    return new HikariDataSource(config);
  }

  private static Holdfast on(DataSource source, boolean allowForeign) {
    return Holdfast.on(source).joining(new SpringTransaction(source, allowForeign));
  }

  private static TransactionTemplate transaction(DataSource source) {
    return new TransactionTemplate(new JdbcTransactionManager(source));
  }

  /** As a repository does it, which makes Spring bind the connection to the thread. */
  private static void use(DataSource source) {
    new JdbcTemplate(source).queryForObject("SELECT 1", Integer.class);
  }

  private long jobs() {
    return database.count("SELECT count(*) FROM holdfast.job");
  }

  private static void assertRefused(Holdfast holdfast, Job job) {
    assertThatThrownBy(() -> holdfast.enqueue(job))
        .isInstanceOf(IllegalTransactionStateException.class)
        .hasMessageContaining("cannot be joined")
        .hasMessageContaining("Propagation.NOT_SUPPORTED")
        .hasMessageContaining("holdfast.allow-foreign-transactions=true");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void an_enqueue_in_the_transaction_of_another_data_source_is_refused(boolean autoCommit) {
    try (HikariDataSource ours = pool(database, autoCommit);
        Holdfast holdfast = on(ours, false)) {
      transaction(orders).executeWithoutResult(status -> assertRefused(holdfast, job));
      assertThat(jobs()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_connection_that_is_bound_in_the_transaction_of_another_data_source_is_not_joined(
      boolean autoCommit) {
    try (HikariDataSource ours = pool(database, autoCommit);
        Holdfast holdfast = on(ours, false)) {
      transaction(orders)
          .executeWithoutResult(
              status -> {
                use(ours);
                assertRefused(holdfast, job);
              });
      assertThat(jobs()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void where_foreign_transactions_are_allowed_the_job_is_durable_at_once(boolean autoCommit) {
    try (HikariDataSource ours = pool(database, autoCommit);
        Holdfast holdfast = on(ours, true)) {
      transaction(orders)
          .executeWithoutResult(
              status -> {
                use(ours);
                holdfast.enqueue(job);
                assertThat(jobs()).isEqualTo(1);
                status.setRollbackOnly();
              });
      assertThat(jobs()).isEqualTo(1);
    }
  }

  @Test
  void who_leaves_the_foreign_transaction_enqueues_at_once() {
    try (HikariDataSource ours = pool(database, true);
        Holdfast holdfast = on(ours, false)) {
      JdbcTransactionManager manager = new JdbcTransactionManager(orders);
      TransactionTemplate outside = new TransactionTemplate(manager);
      outside.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
      new TransactionTemplate(manager)
          .executeWithoutResult(
              status -> {
                outside.executeWithoutResult(left -> holdfast.enqueue(job));
                status.setRollbackOnly();
              });
      assertThat(jobs()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_connection_that_is_bound_without_a_transaction_is_not_joined(boolean autoCommit) {
    try (HikariDataSource ours = pool(database, autoCommit);
        Holdfast holdfast = on(ours, false)) {
      TransactionTemplate none = transaction(ours);
      none.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
      none.executeWithoutResult(
          status -> {
            use(ours);
            holdfast.enqueue(job);
            assertThat(jobs()).isEqualTo(1);
          });
      assertThat(jobs()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_transaction_of_its_own_data_source_is_joined_also_within_another(boolean autoCommit) {
    try (HikariDataSource ours = pool(database, autoCommit);
        Holdfast holdfast = on(ours, false)) {
      transaction(orders)
          .executeWithoutResult(
              outer ->
                  transaction(ours)
                      .executeWithoutResult(
                          inner -> {
                            holdfast.enqueue(job);
                            assertThat(jobs()).isZero();
                            inner.setRollbackOnly();
                          }));
      assertThat(jobs()).isZero();
      transaction(ours).executeWithoutResult(status -> holdfast.enqueue(job));
      assertThat(jobs()).isEqualTo(1);
    }
  }

  @Test
  void an_enqueue_in_a_read_only_transaction_is_refused_with_the_reason() {
    try (HikariDataSource ours = pool(database, true);
        Holdfast holdfast = on(ours, false)) {
      TransactionTemplate reading = transaction(ours);
      reading.setReadOnly(true);
      assertThatThrownBy(() -> reading.executeWithoutResult(status -> holdfast.enqueue(job)))
          .isInstanceOfSatisfying(
              DatabaseException.class,
              refused -> assertThat(refused.reason()).isEqualTo(DatabaseException.Reason.READ_ONLY))
          .hasMessageContaining("@Transactional(readOnly = true)");
      assertThat(jobs()).isZero();
    }
  }
}
