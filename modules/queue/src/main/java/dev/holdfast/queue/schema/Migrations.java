package dev.holdfast.queue.schema;

import dev.holdfast.queue.jdbc.Connections;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.exception.FlywayValidateException;
import org.flywaydb.core.api.output.MigrateResult;
import org.jspecify.annotations.Nullable;

/**
 * Brings the schema up to date. Needs Flyway on the class path, which the library does not bring: a
 * service leaves this to {@code holdfast migrate}, or adds Flyway and calls it.
 */
public final class Migrations {
  private Migrations() {}

  /** How many migrations were applied, and the version the schema has now. */
  public record Result(int applied, int version) {}

  public static Result apply(DataSource dataSource, boolean allowUnsafe) {
    try (Connection connection = Connections.open(dataSource)) {
      Schema.checkBeforeMigration(connection, allowUnsafe);
    } catch (SQLException trouble) {
      throw SqlErrors.thrown("migrate", trouble);
    }
    try {
      MigrateResult result =
          Flyway.configure(Migrations.class.getClassLoader())
              .dataSource(dataSource)
              .schemas(Schema.NAME)
              .table(Schema.HISTORY)
              .locations("classpath:dev/holdfast/queue/migration")
              .failOnMissingLocations(true)
              .loggers("slf4j")
              .load()
              .migrate();
      return new Result(result.migrationsExecuted, Schema.VERSION);
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
