package dev.holdfast.app.admin;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.model.value.Plural;
import dev.holdfast.queue.schema.Migrations;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Brings the schema up to date. */
@Command(name = "migrate", description = "Create or update the schema 'holdfast' in the database.")
public final class MigrateCommand implements Callable<Integer> {
  @Mixin final CommonOptions common = new CommonOptions();

  @Option(
      names = "--dry-run",
      description = "only print the SQL that would be run, and change nothing")
  boolean dryRun;

  @Override
  public Integer call() {
    try (Access access = Access.open(common.settings())) {
      if (dryRun) {
        print(Migrations.pending(access.dataSource(), access.allowsUnsafe()));
        return ExitCode.OK;
      }
      Migrations.Result result = Migrations.apply(access.dataSource(), access.allowsUnsafe());
      Terminal.println(
          result.applied() == 0
              ? "the schema is up to date (version " + result.version() + ")"
              : "applied "
                  + Plural.of(result.applied(), "migration")
                  + "; the schema is at version "
                  + result.version());
      return ExitCode.OK;
    }
  }

  /** Comments are for people; all of it together is a script. */
  private static void print(List<Migrations.Pending> pending) {
    if (pending.isEmpty()) {
      Terminal.println("-- the schema is up to date: nothing would be run");
    } else {
      Terminal.println(
          "-- 'holdfast migrate' would run this, each version in a transaction; each records itself in"
              + " holdfast.schema_version, whatever runs it");
    }
    for (Migrations.Pending migration : pending) {
      Terminal.println("-- version " + migration.version() + ", " + migration.script());
      Terminal.println(migration.sql());
    }
  }
}
