package dev.holdfast.app.cli;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The jobs that a command changes: named by their ids, or all that match a filter. */
public final class JobTargets {
  public @Mixin final JobSelection selection = new JobSelection();

  @Parameters(
      arity = "0..*",
      paramLabel = "ID",
      description = "the jobs' ids, or their first or last characters")
  List<String> ids = List.of();

  @Option(names = "--dry-run", description = "only say how many jobs these are")
  public boolean dryRun;

  /** Empty if the jobs are chosen by the filter. */
  public List<ShortId> ids() {
    if (ids.isEmpty() == selection.isEmpty()) {
      throw new CommandException(
          ExitCode.USAGE,
          "name jobs by id, or choose them by --state, --queue, --kind, --tag or --search");
    }
    if (dryRun && !ids.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, "--dry-run counts jobs of a filter, not ids");
    }
    return ShortId.of(ids);
  }
}
