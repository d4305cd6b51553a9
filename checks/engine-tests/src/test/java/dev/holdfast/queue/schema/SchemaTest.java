package dev.holdfast.queue.schema;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.DatabaseException.Reason;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
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
      "INSERT INTO holdfast.schema_version (version) VALUES (99)";

  private static JobStore on(DataSource source) {
    return new JobStore(source, new JacksonCodec(), JobStore.Options.DEFAULT);
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
    try (JobStore store = on(db.dataSource())) {
      store.check(true);
    }
  }

  @Test
  void a_server_that_may_lose_acknowledged_jobs_is_refused_unless_allowed(TestDatabase db) {
    try (JobStore store = on(db.dataSource())) {
      assertReason(Reason.NOT_DURABLE, () -> store.check(false))
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
      try (JobStore store = on(db.dataSource())) {
        store.check(false);
      }
    }
  }

  @Test
  void a_session_that_cannot_write_is_refused(TestDatabase db) {
    PGSimpleDataSource byPool = plain(db);
    byPool.setReadOnly(true);
    try (JobStore store = on(byPool)) {
      assertReason(Reason.READ_ONLY, () -> store.check(true)).hasMessageContaining("'readOnly'");
      assertReason(Reason.READ_ONLY, () -> store.checkWorker(true));
    }
    db.sql("ALTER DATABASE " + db.name() + " SET default_transaction_read_only = on");
    try (JobStore store = on(plain(db))) {
      assertReason(Reason.READ_ONLY, () -> store.check(true))
          .hasMessageContaining("default_transaction_read_only");
      assertReason(Reason.READ_ONLY, () -> store.checkWorker(true));
    }
  }

  @Test
  void a_missing_password_is_a_refused_login_and_no_outage(TestDatabase db) {
    PGSimpleDataSource source = plain(db);
    source.setPassword(null);
    try (JobStore store = on(source)) {
      assertReason(Reason.LOGIN_REFUSED, () -> store.check(true))
          .hasMessageContaining("no password was provided");
    }
  }

  @Test
  void a_migration_waits_for_another_beyond_the_limits_of_its_session(TestDatabase db)
      throws Exception {
    TestDatabase empty = db.empty();
    PGSimpleDataSource impatient = plain(empty);
    impatient.setOptions("-c lock_timeout=1ms -c statement_timeout=100ms");
    impatient.setApplicationName("impatient");
    try (Connection other = empty.connection();
        Statement statement = other.createStatement()) {
      statement.execute("SELECT pg_advisory_lock(x'686f6c6466617374'::bigint)");
      CompletableFuture<Migrations.Result> migrated =
          CompletableFuture.supplyAsync(() -> Migrations.apply(impatient, true));
      Eventually.until(
          () ->
              empty.count(
                      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                          + " AND application_name = 'impatient'"
                          + " AND now() - query_start > interval '150 ms'")
                  == 1);
      statement.execute("SELECT pg_advisory_unlock(x'686f6c6466617374'::bigint)");
      assertThat(migrated.get(SOON.toMillis(), TimeUnit.MILLISECONDS).applied())
          .isEqualTo(Schema.VERSION);
    }
  }

  @Test
  void a_missing_schema_is_reported_with_how_to_create_it(TestDatabase db) {
    try (JobStore store = on(db.empty().dataSource())) {
      assertReason(Reason.SCHEMA_MISSING, () -> store.check(true))
          .hasMessageContaining("holdfast migrate");
      assertReason(Reason.SCHEMA_MISSING, () -> store.queries().find(JobId.next()));
    }
  }

  @Test
  void an_older_schema_is_reported_as_needing_a_migration(TestDatabase db) {
    db.sql("UPDATE holdfast.schema_version SET version = 0 WHERE version = 1");
    try (JobStore store = on(db.dataSource())) {
      assertReason(Reason.SCHEMA_OLD, () -> store.check(true))
          .hasMessageContaining("at version 0, this Holdfast needs " + Schema.VERSION)
          .hasMessageContaining("holdfast migrate");
    }
  }

  @Test
  void a_database_without_the_schema_is_migrated_once(TestDatabase db) {
    DataSource source = db.empty().dataSource();
    assertThat(Migrations.apply(source, true).applied()).isEqualTo(Schema.VERSION);
    assertThat(Migrations.apply(source, true).applied()).isZero();
    try (JobStore store = on(source)) {
      store.check(true);
    }
  }

  @Test
  void a_changed_script_of_a_migration_is_reported(TestDatabase db) {
    db.sql("UPDATE holdfast.schema_version SET digest = 'another' WHERE version = 1");
    assertReason(Reason.SCHEMA_OLD, () -> Migrations.apply(db.dataSource(), true))
        .hasMessageContaining("use an empty database");
    assertReason(Reason.SCHEMA_OLD, () -> Migrations.pending(db.dataSource(), true));
  }

  @Test
  void tables_without_a_record_of_their_version_are_those_of_another_snapshot(TestDatabase db) {
    db.sql("DROP TABLE holdfast.schema_version");
    try (JobStore store = on(db.dataSource())) {
      assertReason(Reason.SCHEMA_OLD, () -> store.check(true))
          .hasMessageContaining("use an empty database");
    }
    assertReason(Reason.SCHEMA_OLD, () -> Migrations.apply(db.dataSource(), true))
        .hasMessageContaining("use an empty database");
  }

  @Test
  void every_script_in_the_folder_is_a_version() throws Exception {
    URI script = Schema.class.getResource("/dev/holdfast/queue/migration/V1__holdfast.sql").toURI();
    List<String> versions = Script.after(0).stream().map(Script::name).toList();
    if (script.getScheme().equals("jar")) {
      try (FileSystem jar = FileSystems.newFileSystem(script, Map.of())) {
        assertThat(namesIn(jar.getPath("dev/holdfast/queue/migration")))
            .containsExactlyInAnyOrderElementsOf(versions);
      }
    } else {
      assertThat(namesIn(Path.of(script).getParent()))
          .containsExactlyInAnyOrderElementsOf(versions);
    }
  }

  private static List<String> namesIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  @Test
  void a_newer_compatible_schema_is_accepted_with_one_log_line(TestDatabase db) {
    db.sql(FROM_THE_FUTURE);
    try (JobStore store = on(db.dataSource());
        CapturedLog log = CapturedLog.of(Schema.class)) {
      store.check(true);
      store.check(true);
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
    try (JobStore store = on(db.dataSource())) {
      assertReason(Reason.SCHEMA_NEWER, () -> store.check(true))
          .hasMessageContaining("at version 99 and needs")
          .hasMessageContaining("knows version 98 or newer")
          .hasMessageContaining("upgrade Holdfast");
    }
    assertReason(Reason.SCHEMA_NEWER, () -> Migrations.apply(db.dataSource(), true));
    assertReason(Reason.SCHEMA_NEWER, () -> Migrations.pending(db.dataSource(), true));
  }

  @Test
  void a_failed_migration_leaves_nothing(TestDatabase db) {
    TestDatabase empty = db.empty();
    empty.sql("CREATE SCHEMA holdfast");
    empty.sql("CREATE TABLE holdfast.schema_compatibility (is_in_the_way int)");
    assertThatThrownBy(() -> Migrations.apply(empty.dataSource(), true))
        .hasMessageContaining("schema_compatibility");
    assertThat(empty.count("SELECT count(*) FROM pg_tables WHERE schemaname = 'holdfast'"))
        .isEqualTo(1);
  }

  @Test
  void migrating_twice_migrates_once(TestDatabase db) {
    TestDatabase empty = db.empty();
    Migrations.Result first = Migrations.apply(empty.dataSource(), true);
    assertThat(first.applied()).isPositive();
    assertThat(Migrations.apply(empty.dataSource(), true))
        .isEqualTo(new Migrations.Result(0, first.version()));
    try (JobStore store = on(empty.dataSource())) {
      store.check(true);
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
    try (JobStore store = on(source)) {
      assertReason(Reason.LOGIN_REFUSED, () -> store.check(true))
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
        JobStore store = on(patient)) {
      assertReason(Reason.LOGIN_REFUSED, () -> store.check(true));
    }
    try (HikariDataSource lazy = new HikariDataSource()) {
      lazy.setJdbcUrl(db.url());
      lazy.setUsername(db.user());
      lazy.setPassword("wrong");
      try (JobStore store = on(lazy)) {
        assertReason(Reason.LOGIN_REFUSED, () -> store.check(true));
      }
    }
  }

  @Test
  void an_unreachable_server_is_reported_as_unavailable(TestDatabase db) {
    PGSimpleDataSource source = plain(db);
    source.setPortNumbers(new int[] {1});
    try (JobStore store = on(source)) {
      assertReason(Reason.UNAVAILABLE, () -> store.check(true));
    }
  }

  @Test
  void a_database_that_does_not_exist_is_named(TestDatabase db) {
    PGSimpleDataSource source = plain(db);
    source.setDatabaseName("nowhere");
    try (JobStore store = on(source)) {
      assertReason(Reason.OTHER, () -> store.check(true)).hasMessageContaining("nowhere");
    }
  }
}
