package dev.holdfast.testkit;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(DatabaseExtension.class)
class FaultProxyTest {
  private final TestDatabase db;
  private final FaultProxy proxy;

  FaultProxyTest(TestDatabase db) {
    this.db = db;
    this.proxy = FaultProxy.before(db);
  }

  @AfterEach
  void close() {
    proxy.close();
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(proxy.url(db), db.user(), db.password());
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void connections_are_cut_and_refused_until_mend_is_called() throws SQLException {
    try (Connection connection = connect()) {
      run(connection, "SELECT 1");
      proxy.cut();
      assertThatThrownBy(() -> run(connection, "SELECT 1")).isInstanceOf(SQLException.class);
    }
    assertThatThrownBy(this::connect).hasMessageContaining("refused");
    assertThat(proxy.connections()).isZero();
    proxy.mend();
    try (Connection connection = connect()) {
      run(connection, "SELECT 1");
    }
  }

  @Test
  void a_frozen_connection_responds_after_thaw() throws Exception {
    try (Connection connection = connect()) {
      connection.setNetworkTimeout(Runnable::run, 10_000);
      proxy.freeze();
      CompletableFuture<Void> inserted =
          CompletableFuture.runAsync(
              () -> {
                try {
                  run(connection, "INSERT INTO holdfast.x VALUES (1)");
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      await()
          .during(100, TimeUnit.MILLISECONDS)
          .until(() -> db.count("SELECT count(*) FROM holdfast.x") == 0);
      assertThat(inserted).isNotDone();
      proxy.thaw();
      inserted.get(SOON.toSeconds(), TimeUnit.SECONDS);
      assertThat(db.count("SELECT count(*) FROM holdfast.x")).isEqualTo(1);
    }
  }

  @Test
  void packets_of_a_slow_connection_arrive_late() throws SQLException {
    try (Connection connection = connect()) {
      run(connection, "SELECT 1");
      proxy.slow(Duration.ofMillis(200));
      long start = System.nanoTime();
      run(connection, "SELECT 1");
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(390));
      proxy.slow(Duration.ZERO);
      run(connection, "SELECT 1");
    }
  }

  @Test
  void the_response_to_a_commit_is_lost_but_not_the_commit() throws Exception {
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      // From the second time on the driver sends the name it gave to COMMIT, not the word.
      for (int i = 0; i < 10; i++) {
        run(connection, "INSERT INTO holdfast.x VALUES (" + i + ")");
        connection.commit();
      }
      run(connection, "INSERT INTO holdfast.x VALUES (10)");
      CountDownLatch lost = proxy.loseNextReplyTo("COMMIT");
      assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
      assertThat(lost.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(connection.isClosed()).isTrue();
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.x")).isEqualTo(11);
    try (Connection connection = connect()) {
      run(connection, "SELECT 1");
    }
  }

  @Test
  void only_the_named_statement_loses_its_response() throws Exception {
    proxy.loseNextReplyTo("VALUES (2)");
    try (Connection connection = connect()) {
      run(connection, "INSERT INTO holdfast.x VALUES (1)");
      assertThatThrownBy(() -> run(connection, "INSERT INTO holdfast.x VALUES (2)"))
          .isInstanceOf(SQLException.class);
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.x")).isEqualTo(2);
  }

  @Test
  void a_large_statement_passes_unchanged() throws SQLException {
    try (Connection connection = connect()) {
      run(connection, "DO $$BEGIN PERFORM length('" + "x".repeat(1_000_000) + "'); END$$");
    }
  }
}
