package dev.holdfast.app.admin;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.cli.Terminal;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors of a migration: each is one line with a remedy. */
@ExtendWith(DatabaseExtension.class)
class MigrateTest {
  private TestDatabase database;

  @BeforeEach
  void open(TestDatabase given) {
    database = given.empty();
  }

  private Terminal.Answer migrate(String url, String user, String password, String... options) {
    Map<String, String> environment = new HashMap<>();
    environment.put("HOLDFAST_DATABASE_URL", url);
    environment.put("HOLDFAST_DATABASE_USER", user);
    environment.put("HOLDFAST_DATABASE_PASSWORD", password);
    environment.put("HOLDFAST_DATABASE_ALLOW_UNSAFE", "1");
    List<String> arguments = new ArrayList<>(List.of("migrate"));
    arguments.addAll(List.of(options));
    return Terminal.run(environment, arguments);
  }

  private Terminal.Answer migrate(String url) {
    return migrate(url, database.user(), database.password());
  }

  private static void assertOneLine(Terminal.Answer answer, int code, String... words) {
    assertThat(answer.err()).hasSize(1);
    assertThat(answer.err().getFirst()).startsWith("holdfast: ").contains(words);
    assertThat(answer.code()).isEqualTo(code);
    assertThat(answer.out()).isEmpty();
  }

  /** At the beginning and in the middle of a migration, and where the history is written. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE TABLE holdfast.job",
        "CREATE TABLE holdfast.schedule",
        "INSERT INTO holdfast.schema_version",
        "CREATE SCHEMA"
      })
  void a_connection_lost_during_migration_is_one_line_and_a_rerun_succeeds(String statement)
      throws InterruptedException {
    try (FaultProxy proxy = FaultProxy.before(database)) {
      CountDownLatch lost = proxy.loseNextReplyTo(statement);
      Terminal.Answer broken = migrate(proxy.url(database));
      assertThat(lost.await(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      assertOneLine(broken, ExitCode.DATABASE_AWAY, "connection was lost", "run it again");

      Terminal.Answer again = migrate(proxy.url(database));
      assertThat(again.err()).isEmpty();
      assertThat(again.code()).isZero();
      assertThat(again.out().getFirst()).contains("the schema is");
      assertThat(migrate(database.url()).out().getFirst()).contains("up to date");
    }
  }

  @Test
  void a_dry_run_prints_the_sql_and_changes_nothing() {
    Terminal.Answer dry =
        migrate(database.url(), database.user(), database.password(), "--dry-run");
    assertThat(dry.code()).isZero();
    assertThat(dry.out().getFirst()).startsWith("-- 'holdfast migrate' would run this");
    assertThat(dry.out())
        .contains("-- version 1, V1__holdfast.sql")
        .anyMatch(line -> line.startsWith("CREATE TABLE holdfast.job "));
    assertThat(migrate(database.url()).out().getFirst()).startsWith("applied ");
    assertThat(migrate(database.url(), database.user(), database.password(), "--dry-run").out())
        .containsExactly("-- the schema is up to date: nothing would be run");
  }

  @Test
  void a_user_that_cannot_create_the_schema_is_told_the_missing_privilege() {
    String user = "may_not_" + database.name();
    database.sql("CREATE ROLE " + user + " LOGIN PASSWORD 'secret-word'");
    try {
      assertOneLine(
          migrate(database.url(), user, "secret-word"),
          ExitCode.DATABASE_UNFIT,
          "may not change the schema 'holdfast'",
          "GRANT CREATE ON DATABASE");
      database.sql("GRANT CREATE ON DATABASE " + database.name() + " TO " + user);
      assertThat(migrate(database.url(), user, "secret-word").code()).isZero();
    } finally {
      database.sql("DROP OWNED BY " + user);
      database.sql("DROP ROLE " + user);
    }
  }

  @Test
  void a_read_only_server_is_reported_as_such() {
    database.sql("ALTER DATABASE " + database.name() + " SET default_transaction_read_only = on");
    assertOneLine(
        migrate(database.url()),
        ExitCode.DATABASE_UNFIT,
        "the server is read-only, as a standby is: name the primary");
  }

  @Test
  void invalid_passwords_missing_databases_and_unreachable_servers_are_distinguished() {
    assertOneLine(
        migrate(database.url(), database.user(), "wrong"),
        ExitCode.DATABASE_UNFIT,
        "refused the login: check user and password");
    assertOneLine(
        migrate(database.url() + "_nowhere"),
        ExitCode.DATABASE_UNFIT,
        "no such database: create it with createdb");
    FaultProxy proxy = FaultProxy.before(database);
    proxy.close();
    assertOneLine(
        migrate(proxy.url(database)),
        ExitCode.DATABASE_AWAY,
        "cannot reach",
        "is the server running there?");
  }
}
