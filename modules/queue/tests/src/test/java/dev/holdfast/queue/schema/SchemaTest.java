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
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.ds.PGSimpleDataSource;

/** Checks of the schema and the server, each with a message that says what to do. */
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
  void a_migrated_database_passes_the_check(TestDatabase db) {
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
    void a_durable_server_passes_the_strict_check(TestDatabase db) {
      try (Queue queue = on(db.dataSource())) {
        queue.check(false);
      }
    }
  }

  @Test
  void a_missing_schema_is_reported_with_how_to_create_it(TestDatabase db) {
    try (Queue queue = on(db.empty().dataSource())) {
      assertReason(Reason.SCHEMA_MISSING, () -> queue.check(true))
          .hasMessageContaining("holdfast migrate");
      assertReason(Reason.SCHEMA_MISSING, () -> queue.queries().find(JobId.next()));
    }
  }

  @Test
  void an_older_schema_is_reported_as_needing_a_migration(TestDatabase db) {
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
  void a_changed_checksum_of_a_migration_is_reported(TestDatabase db) {
    db.sql("UPDATE holdfast.flyway_schema_history SET checksum = 1 WHERE version = '1'");
    assertReason(Reason.SCHEMA_OLD, () -> Migrations.apply(db.dataSource(), true))
        .hasMessageContaining("use an empty database");
  }

  @Test
  void a_newer_compatible_schema_is_accepted_with_one_log_line(TestDatabase db) {
    db.sql(FROM_THE_FUTURE);
    try (Queue queue = on(db.dataSource());
        CapturedLog log = CapturedLog.of(Schema.class)) {
      queue.check(true);
      queue.check(true);
      assertThat(log.lines())
          .filteredOn(line -> line.contains("at version 99, newer than the " + Schema.VERSION))
          .hasSize(1);
    }
    assertThat(Migrations.apply(db.dataSource(), true)).isEqualTo(new Migrations.Result(0, 99));
    assertThat(Migrations.pending(db.dataSource(), true)).isEmpty();
  }

  @Test
  void pending_migrations_are_listed_and_not_run(TestDatabase db) throws SQLException {
    TestDatabase empty = db.empty();
    List<Migrations.Pending> pending = Migrations.pending(empty.dataSource(), true);
    assertThat(pending).extracting(Migrations.Pending::version).first().isEqualTo(1);
    assertThat(pending).hasSize(Schema.VERSION);
    assertThat(pending.getFirst().sql()).contains("CREATE TABLE holdfast.job");
    assertThat(empty.count("SELECT count(*) FROM pg_namespace WHERE nspname = 'holdfast'"))
        .isZero();
    try (Connection connection = empty.connection();
        Statement statement = connection.createStatement()) {
      for (Migrations.Pending migration : pending) {
        statement.execute(migration.sql());
      }
    }
    assertThat(empty.count("SELECT count(*) FROM holdfast.job")).isZero();
    assertThat(Migrations.pending(db.dataSource(), true)).isEmpty();
  }

  @Test
  void a_newer_incompatible_schema_requires_a_newer_holdfast(TestDatabase db) {
    db.sql(FROM_THE_FUTURE);
    db.sql("UPDATE holdfast.schema_compatibility SET oldest_version = 98");
    try (Queue queue = on(db.dataSource())) {
      assertReason(Reason.SCHEMA_NEWER, () -> queue.check(true))
          .hasMessageContaining("at version 99 and needs")
          .hasMessageContaining("knows version 98 or newer")
          .hasMessageContaining("upgrade Holdfast");
    }
    assertReason(Reason.SCHEMA_NEWER, () -> Migrations.apply(db.dataSource(), true));
    assertReason(Reason.SCHEMA_NEWER, () -> Migrations.pending(db.dataSource(), true));
  }

  @Test
  void a_failed_migration_does_not_count(TestDatabase db) {
    db.sql(FROM_THE_FUTURE.replace("true)", "false)"));
    try (Queue queue = on(db.dataSource())) {
      queue.check(true);
    }
  }

  @Test
  void migrating_twice_migrates_once(TestDatabase db) {
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
  void several_nodes_may_migrate_concurrently(TestDatabase db) {
    TestDatabase empty = db.empty();
    List<Migrations.Result> results =
        Parallel.run(3, i -> () -> Migrations.apply(empty.dataSource(), true));
    // Each step is taken once, though not all of them need be taken by the same node.
    int steps = Migrations.apply(db.empty().dataSource(), true).applied();
    assertThat(results.stream().mapToInt(Migrations.Result::applied).sum()).isEqualTo(steps);
  }

  @Test
  void a_wrong_password_is_reported(TestDatabase db) {
    PGSimpleDataSource source = plain(db);
    source.setPassword("wrong");
    try (Queue queue = on(source)) {
      assertReason(Reason.LOGIN_REFUSED, () -> queue.check(true))
          .hasMessageContaining("password authentication failed");
    }
    assertReason(Reason.LOGIN_REFUSED, () -> Migrations.apply(source, true));
  }

  @Test
  void a_wrong_password_is_reported_also_behind_a_pool(TestDatabase db) {
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
  void an_unreachable_server_is_reported_as_unavailable(TestDatabase db) {
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
