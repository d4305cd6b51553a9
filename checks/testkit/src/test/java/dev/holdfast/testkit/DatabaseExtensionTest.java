package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(DatabaseExtension.class)
class DatabaseExtensionTest {
  private final TestDatabase db;

  DatabaseExtensionTest(TestDatabase db) {
    this.db = db;
  }

  @RepeatedTest(3)
  void every_test_has_a_fresh_migrated_database(TestDatabase same) {
    assertThat(same).isSameAs(db);
    assertThat(db.count("SELECT count(*) FROM holdfast.x")).isZero();
    assertThat(db.sql("INSERT INTO holdfast.x VALUES (?)", 1)).isEqualTo(1);
  }

  @Test
  void the_pool_serves_connections_in_autocommit() throws SQLException {
    try (Connection connection = db.dataSource().getConnection()) {
      assertThat(connection.getAutoCommit()).isTrue();
      assertThat(connection.getCatalog()).isEqualTo(db.name());
    }
  }

  @Test
  void an_empty_database_has_no_schema() {
    assertThat(db.empty().count("SELECT count(*) FROM pg_namespace WHERE nspname = 'holdfast'"))
        .isZero();
  }

  @Test
  void a_database_is_dropped_even_with_an_open_connection() throws SQLException {
    TestDatabase other = db.empty();
    try (Connection open = other.connection()) {
      other.close();
      assertThat(open.isValid(1)).isFalse();
    }
    assertThat(db.count("SELECT count(*) FROM pg_database WHERE datname = ?", other.name()))
        .isZero();
  }

  @Test
  void the_shared_server_trades_durability_for_speed() {
    assertThat(db.queryOne(String.class, "SHOW fsync")).isEqualTo("off");
  }

  @Nested
  @Durable
  class OnADurableServer {
    @Test
    void fsync_is_on(TestDatabase durable) {
      assertThat(durable.queryOne(String.class, "SHOW fsync")).isEqualTo("on");
    }
  }
}
