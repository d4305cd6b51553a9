package dev.holdfast.queue.schema;

import dev.holdfast.queue.jdbc.Connections;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.core.api.exception.FlywayValidateException;
import org.flywaydb.core.api.output.MigrateResult;
import org.jspecify.annotations.Nullable;

/**
 * Brings the schema up to date. Needs Flyway on the class path, which the library does not bring: a
 * service leaves this to {@code holdfast migrate}, or adds Flyway and calls it.
 */
public final class Migrations {
  private static final String FOLDER = "dev/holdfast/queue/migration";

  private Migrations() {}

  /** How many migrations were applied, and the version the schema has now. */
  public record Result(int applied, int version) {}

  /** A migration that was not applied yet. */
  public record Pending(int version, String script, String sql) {}

  /** Creates the schema, or brings it up to date. Any number of processes may do so at once. */
  public static Result apply(DataSource dataSource, boolean allowUnsafe) {
    int before = check(dataSource, allowUnsafe);
    MigrateResult result = translating(() -> flyway(dataSource).load().migrate());
    return new Result(result.migrationsExecuted, Math.max(before, Schema.VERSION));
  }

  /** What {@link #apply} would do; changes nothing. */
  public static List<Pending> pending(DataSource dataSource, boolean allowUnsafe) {
    int before = check(dataSource, allowUnsafe);
    return translating(
        () -> {
          flyway(dataSource).ignoreMigrationPatterns("*:pending", "*:future").load().validate();
          return Arrays.stream(flyway(dataSource).load().info().pending())
              .map(migration -> pending(migration, before))
              .toList();
        });
  }

  private static Pending pending(MigrationInfo migration, int before) {
    String script = migration.getScript();
    int version = Integer.parseInt(migration.getVersion().getVersion());
    // Flyway creates the schema itself.
    String first = before == 0 && version == 1 ? "CREATE SCHEMA IF NOT EXISTS holdfast;\n" : "";
    try (InputStream in = Migrations.class.getResourceAsStream("/" + FOLDER + "/" + script)) {
      if (in == null) {
        throw new IllegalStateException(script + " is not in " + FOLDER);
      }
      return new Pending(
          version, script, first + new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  /** The version of the schema, 0 when there is none. */
  private static int check(DataSource dataSource, boolean allowUnsafe) {
    try (Connection connection = Connections.open(dataSource)) {
      return Schema.checkBeforeMigration(connection, allowUnsafe);
    } catch (SQLException e) {
      throw SqlErrors.thrown("migrate", e);
    }
  }

  private static FluentConfiguration flyway(DataSource dataSource) {
    return Flyway.configure(Migrations.class.getClassLoader())
        .dataSource(dataSource)
        .schemas(Schema.NAME)
        .table(Schema.HISTORY)
        .locations("classpath:" + FOLDER)
        .failOnMissingLocations(true)
        .loggers("slf4j");
  }

  private static <T> T translating(Supplier<T> work) {
    try {
      return work.get();
    } catch (FlywayValidateException other) {
      throw new DatabaseException(
          DatabaseException.Reason.SCHEMA_OLD,
          "the schema 'holdfast' was made by another snapshot of Holdfast, and before 1.0 there is"
              + " no way from one to the next: use an empty database, or delete the folder of"
              + " 'holdfast dev'",
          other);
    } catch (FlywayException failed) {
      SQLException cause = sql(failed);
      if (cause != null) {
        throw SqlErrors.ofMigration(cause);
      }
      throw new DatabaseException(
          DatabaseException.Reason.OTHER, "migrate: " + failed.getMessage(), failed);
    }
  }

  private static @Nullable SQLException sql(Throwable failed) {
    for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql) {
        return sql;
      }
    }
    return null;
  }
}
