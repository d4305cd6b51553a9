package dev.holdfast.app.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.app.cli.Terminal;
import dev.holdfast.model.job.Job;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.DirectoryResourceAccessor;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The schema belongs to the migrations of an application, or to a DBA, who run our SQL. */
@ExtendWith(DatabaseExtension.class)
class SchemaByOthersTest {
  private static final Path SHIPPED =
      Path.of(
          "../../modules/queue/src/main/resources/dev/holdfast/queue/migration/V1__holdfast.sql");

  @TempDir Path folder;
  private TestDatabase database;

  @BeforeEach
  void open(TestDatabase given) {
    database = given.empty();
    // As for an application, whose role is not called 'holdfast', as that of the tests is.
    database.sql("ALTER DATABASE " + database.name() + " SET search_path = public");
  }

  private List<String> migrate(String... options) {
    List<String> arguments = new ArrayList<>(List.of("migrate"));
    arguments.addAll(List.of(options));
    Terminal.Answer answer =
        Terminal.run(
            Map.of(
                "HOLDFAST_DATABASE_URL", database.url(),
                "HOLDFAST_DATABASE_USER", database.user(),
                "HOLDFAST_DATABASE_PASSWORD", database.password(),
                "HOLDFAST_DATABASE_ALLOW_UNSAFE", "1"),
            arguments);
    assertThat(answer.err()).isEmpty();
    assertThat(answer.code()).isZero();
    return answer.out();
  }

  private String dryRun() {
    return String.join("\n", migrate("--dry-run")) + "\n";
  }

  /** As a schema of our own migration: accepted, up to date, and the next version can follow. */
  private void assertAccepted() {
    try (Holdfast holdfast = Holdfast.on(database.dataSource())) {
      holdfast.store().check(true);
      assertThat(holdfast.find(holdfast.enqueue(Job.of("kind")).id())).isPresent();
    }
    assertThat(migrate().getFirst()).startsWith("the schema is up to date (version ");
    assertThat(migrate("--dry-run")).singleElement().asString().contains("nothing would be run");
    assertThat(Migrations.apply(database.dataSource(), true).applied()).isZero();
  }

  private void psql(Path script) throws IOException, InterruptedException {
    ProcessBuilder psql =
        new ProcessBuilder(
            "psql",
            "--no-psqlrc",
            "--quiet",
            "--single-transaction",
            "--set=ON_ERROR_STOP=1",
            "--file=" + script,
            database.url().replaceFirst("^jdbc:", ""));
    psql.environment().put("PGUSER", database.user());
    psql.environment().put("PGPASSWORD", database.password());
    Path output = folder.resolve("psql.log");
    int code = psql.redirectErrorStream(true).redirectOutput(output.toFile()).start().waitFor();
    assertThat(output).hasContent("");
    assertThat(code).isZero();
  }

  @Test
  void the_output_of_a_dry_run_applied_by_psql_is_a_schema_like_that_of_migrate() throws Exception {
    psql(Files.writeString(folder.resolve("holdfast.sql"), dryRun()));
    assertAccepted();
    assertThat(digests()).isEqualTo(List.of(digestOfMigrate()));
  }

  @Test
  void the_shipped_file_applied_by_psql_is_accepted() throws Exception {
    psql(SHIPPED);
    assertAccepted();
  }

  @Test
  void a_role_that_owns_the_schema_and_may_create_no_other_applies_the_file() throws Exception {
    String owner = "owner_of_" + database.name();
    database.sql("CREATE ROLE " + owner);
    try {
      database.sql("CREATE SCHEMA holdfast AUTHORIZATION " + owner);
      Path script = folder.resolve("as-owner.sql");
      psql(Files.writeString(script, "SET ROLE " + owner + ";\n" + Files.readString(SHIPPED)));
      assertAccepted();
    } finally {
      database.sql("DROP OWNED BY " + owner);
      database.sql("DROP ROLE " + owner);
    }
  }

  @Test
  void flyway_applies_it_as_one_of_the_migrations_of_an_application() throws Exception {
    Files.writeString(folder.resolve("V1__shop.sql"), "CREATE TABLE orders (id int PRIMARY KEY);");
    Files.writeString(folder.resolve("V2__holdfast_1.sql"), dryRun());
    Flyway flyway =
        Flyway.configure()
            .dataSource(database.dataSource())
            .locations("filesystem:" + folder)
            .load();
    assertThat(flyway.migrate().migrationsExecuted).isEqualTo(2);
    assertAccepted();
    assertThat(flyway.migrate().migrationsExecuted).isZero();
    flyway.validate();
  }

  @Test
  void flyway_applies_it_from_the_class_path() {
    Flyway flyway =
        Flyway.configure()
            .dataSource(database.dataSource())
            .locations("classpath:dev/holdfast/queue/migration")
            .table("holdfast_history")
            .load();
    assertThat(flyway.migrate().migrationsExecuted).isPositive();
    assertAccepted();
  }

  @Test
  void liquibase_applies_it_as_a_change_of_an_application() throws Exception {
    Files.writeString(folder.resolve("holdfast_1.sql"), dryRun());
    Path changes =
        Files.writeString(
            folder.resolve("changelog.xml"),
            """
            <databaseChangeLog xmlns="http://www.liquibase.org/xml/ns/dbchangelog"
                xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                xsi:schemaLocation="http://www.liquibase.org/xml/ns/dbchangelog
                  http://www.liquibase.org/xml/ns/dbchangelog/dbchangelog-latest.xsd">
              <changeSet id="holdfast-1" author="shop">
                <sqlFile path="holdfast_1.sql"/>
              </changeSet>
            </databaseChangeLog>
            """);
    for (int i = 0; i < 2; i++) {
      try (Connection connection = database.connection();
          Liquibase liquibase =
              new Liquibase(
                  changes.getFileName().toString(),
                  new DirectoryResourceAccessor(folder),
                  DatabaseFactory.getInstance()
                      .findCorrectDatabaseImplementation(new JdbcConnection(connection)))) {
        liquibase.update(new Contexts());
      }
    }
    assertAccepted();
  }

  @Test
  void what_others_have_applied_is_not_run_again() throws Exception {
    psql(SHIPPED);
    List<?> tables = List.copyOf(database.query("SELECT oid FROM pg_class WHERE relkind = 'r'"));
    migrate();
    assertThat(List.copyOf(database.query("SELECT oid FROM pg_class WHERE relkind = 'r'")))
        .isEqualTo(tables);
    assertThat(digests()).isEqualTo(Arrays.asList((Object) null));
  }

  private List<Object> digests() {
    List<Object> digests = new ArrayList<>();
    database
        .query("SELECT digest FROM holdfast.schema_version ORDER BY version")
        .forEach(row -> digests.add(row.get("digest")));
    return digests;
  }

  private String digestOfMigrate() {
    TestDatabase another = database.empty();
    Migrations.apply(another.dataSource(), true);
    return String.valueOf(
        another.query("SELECT digest FROM holdfast.schema_version").getFirst().get("digest"));
  }
}
