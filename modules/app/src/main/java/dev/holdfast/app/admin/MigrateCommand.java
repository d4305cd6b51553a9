package dev.holdfast.app.admin;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.value.Plural;
import dev.holdfast.queue.schema.Migrations;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Brings the schema up to date. */
@Command(name = "migrate", description = "Create or update the schema 'holdfast' in the database.")
public final class MigrateCommand implements Callable<Integer> {
  @Mixin final CommonOptions common = new CommonOptions();

  @Override
  public Integer call() {
    try (Access access = Access.open(common.settings())) {
      Migrations.Result result = Migrations.apply(access.dataSource(), access.allowsUnsafe());
      System.out.println(
          result.applied() == 0
              ? "the schema is up to date (version " + result.version() + ")"
              : "applied "
                  + Plural.of(result.applied(), "migration")
                  + "; the schema is at version "
                  + result.version());
      return ExitCode.OK;
    }
  }
}
