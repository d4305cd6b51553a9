package dev.holdfast.queue.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.Queue;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.DatabaseException.Reason;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import javax.sql.DataSource;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.ds.PGSimpleDataSource;

/** Is this a database that can be trusted? Each answer says what to do. */
@ExtendWith(DatabaseExtension.class)
class SchemaTest {
  private static final String FROM_THE_FUTURE =
      "INSERT INTO holdfast.flyway_schema_history (installed_rank, version, description, type,"
          + " script, checksum, installed_by, execution_time, success)"
          + " VALUES (99, '99', 'future', 'SQL', 'V99__future.sql', 1, 'me', 1, true)";

  private static Queue on(DataSource source) {
    return new Queue(source, new JacksonCodec(), Queue.Options.DEFAULT);
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertReason(
      Reason reason, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOf(DatabaseException.class)
        .satisfies(thrown -> assertThat(((DatabaseException) thrown).reason()).isEqualTo(reason));
  }

  private static PGSimpleDataSource plain(TestDatabase db) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(db.url());
    source.setUser(db.user());
    source.setPassword(db.password());
    return source;
  }

  @Test
  void a_migrated_database_is_good(TestDatabase db) {
    try (Queue queue = on(db.dataSource())) {
      queue.check(true);
    }
  }

  @Test
  void a_server_that_may_lose_acknowledged_jobs_is_refused_unless_allowed(TestDatabase db) {
    try (Queue queue = on(db.dataSource())) {
      assertReason(Reason.NOT_DURABLE, () -> queue.check(false))
          .hasMessageContaining("fsync=off")
          .hasMessageContaining("HOLDFAST_DATABASE_ALLOW_UNSAFE=1");
    }
    assertReason(Reason.NOT_DURABLE, () -> Migrations.apply(db.empty().dataSource(), false));
  }

  @Nested
  @Durable
  class OnADurableServer {
    @Test
    void nothing_needs_to_be_allowed(TestDatabase db) {
      try (Queue queue = on(db.dataSource())) {
        queue.check(false);
      }
    }
  }

  @Test
  void a_database_without_the_schema_says_how_to_get_it(TestDatabase db) {
    try (Queue queue = on(db.empty().dataSource())) {
      assertReason(Reason.SCHEMA_MISSING, () -> queue.check(true))
          .hasMessageContaining("holdfast migrate");
      assertReason(Reason.SCHEMA_MISSING, () -> queue.queries().find(JobId.next()));
    }
  }

  @Test
  void an_older_schema_asks_to_be_migrated(TestDatabase db) {
    db.sql("UPDATE holdfast.flyway_schema_history SET version = '0' WHERE version = '1'");
    try (Queue queue = on(db.dataSource())) {
      assertReason(Reason.SCHEMA_OLD, () -> queue.check(true))
          .hasMessageContaining("at version 0, this Holdfast needs " + Schema.VERSION)
          .hasMessageContaining("holdfast migrate");
    }
  }

  @Test
  void a_database_without_the_schema_is_migrated_once(TestDatabase db) {
    DataSource source = db.empty().dataSource();
    assertThat(Migrations.apply(source, true).applied()).isEqualTo(Schema.VERSION);
    assertThat(Migrations.apply(source, true).applied()).isZero();
    try (Queue queue = on(source)) {
      queue.check(true);
    }
  }

  @Test
  void a_schema_of_another_snapshot_is_told_apart(TestDatabase db) {
    db.sql("UPDATE holdfast.flyway_schema_history SET checksum = 1 WHERE version = '1'");
    assertReason(Reason.SCHEMA_OLD, () -> Migrations.apply(db.dataSource(), true))
        .hasMessageContaining("use an empty database");
  }

  @Test
  void a_newer_schema_asks_for_a_newer_holdfast(TestDatabase db) {
    db.sql(FROM_THE_FUTURE);
    try (Queue queue = on(db.dataSource())) {
      assertReason(Reason.SCHEMA_NEWER, () -> queue.check(true))
          .hasMessageContaining("99")
          .hasMessageContaining("upgrade Holdfast");
    }
    assertReason(Reason.SCHEMA_NEWER, () -> Migrations.apply(db.dataSource(), true));
  }

  @Test
  void a_migration_that_failed_does_not_count(TestDatabase db) {
    db.sql(FROM_THE_FUTURE.replace("true)", "false)"));
    try (Queue queue = on(db.dataSource())) {
      queue.check(true);
    }
  }

  @Test
  void migrating_twice_is_migrating_once(TestDatabase db) {
    TestDatabase empty = db.empty();
    Migrations.Result first = Migrations.apply(empty.dataSource(), true);
    assertThat(first.applied()).isPositive();
    assertThat(Migrations.apply(empty.dataSource(), true))
        .isEqualTo(new Migrations.Result(0, first.version()));
    try (Queue queue = on(empty.dataSource())) {
      queue.check(true);
    }
  }

  @Test
  void several_nodes_may_migrate_at_once(TestDatabase db) {
    TestDatabase empty = db.empty();
    List<Migrations.Result> results =
        Parallel.run(3, i -> () -> Migrations.apply(empty.dataSource(), true));
    // Each step is taken once, though not all of them need be taken by the same node.
    int steps = Migrations.apply(db.empty().dataSource(), true).applied();
    assertThat(results.stream().mapToInt(Migrations.Result::applied).sum()).isEqualTo(steps);
  }

  @Test
  void a_wrong_password_is_said_to_be_wrong(TestDatabase db) {
    PGSimpleDataSource source = plain(db);
    source.setPassword("wrong");
    try (Queue queue = on(source)) {
      assertReason(Reason.LOGIN_REFUSED, () -> queue.check(true))
          .hasMessageContaining("password authentication failed");
    }
    assertReason(Reason.LOGIN_REFUSED, () -> Migrations.apply(source, true));
  }

  @Test
  void a_pool_that_hides_a_wrong_password_is_seen_through(TestDatabase db) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(db.url());
    config.setUsername(db.user());
    config.setPassword("wrong");
    config.setConnectionTimeout(300);
    config.setInitializationFailTimeout(-1);
    try (HikariDataSource patient = new HikariDataSource(config);
        Queue queue = on(patient)) {
      assertReason(Reason.LOGIN_REFUSED, () -> queue.check(true));
    }
    try (HikariDataSource lazy = new HikariDataSource()) {
      lazy.setJdbcUrl(db.url());
      lazy.setUsername(db.user());
      lazy.setPassword("wrong");
      try (Queue queue = on(lazy)) {
        assertReason(Reason.LOGIN_REFUSED, () -> queue.check(true));
      }
    }
  }

  @Test
  void a_server_nobody_can_reach_may_come_back(TestDatabase db) {
    PGSimpleDataSource source = plain(db);
    source.setPortNumbers(new int[] {1});
    try (Queue queue = on(source)) {
      assertReason(Reason.UNAVAILABLE, () -> queue.check(true));
    }
  }

  @Test
  void a_database_that_does_not_exist_is_named(TestDatabase db) {
    PGSimpleDataSource source = plain(db);
    source.setDatabaseName("nowhere");
    try (Queue queue = on(source)) {
      assertReason(Reason.OTHER, () -> queue.check(true)).hasMessageContaining("nowhere");
    }
  }
}
