package dev.holdfast.spring;

import dev.holdfast.queue.jdbc.DatabaseException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do, without a stack trace, when an application cannot start with its database. */
final class DatabaseFailureAnalyzer extends AbstractFailureAnalyzer<DatabaseException> {
  @Override
  protected @Nullable FailureAnalysis analyze(Throwable root, DatabaseException error) {
    String action =
        switch (error.reason()) {
          case SCHEMA_MISSING, SCHEMA_OLD ->
              "Set holdfast.migrate=true, or run 'holdfast migrate'.";
          case POOL_TOO_SMALL -> "Raise spring.datasource.hikari.maximum-pool-size.";
          case NOT_DURABLE ->
              "Turn fsync on, or set holdfast.allow-unsafe=true for a database that may lose jobs.";
          case UNAVAILABLE,
              UNIQUE_KEY_HELD,
              INTERRUPTED,
              LOGIN_REFUSED,
              NOT_ALLOWED,
              READ_ONLY,
              TOO_OLD,
              SCHEMA_NEWER,
              OTHER ->
              null;
        };
    return new FailureAnalysis(
        "Holdfast cannot use the database: " + error.getMessage(), action, error);
  }
}
