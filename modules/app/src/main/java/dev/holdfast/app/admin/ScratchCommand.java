package dev.holdfast.app.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.OutputOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.model.value.Plural;
import dev.holdfast.worker.artifact.Scratch;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What attempts have left on this machine. */
@Command(
    name = "scratch",
    description = "List and delete working directories that attempts left here.",
    mixinStandardHelpOptions = true,
    subcommands = {ScratchCommand.ListCommand.class, ScratchCommand.CleanCommand.class},
    synopsisSubcommandLabel = "COMMAND")
public final class ScratchCommand {

  /** What there is. */
  @Command(name = "list", description = "List working directories, the longest unchanged first.")
  static final class ListCommand implements Callable<Integer> {
    @Mixin final CommonOptions common = new CommonOptions();
    @Mixin final OutputOption output = new OutputOption();

    @Override
    public Integer call() {
      boolean isData = output.isData();
      List<Scratch.Kept> all = all(common.settings().storage().scratch());
      if (isData) {
        output.print(data(all));
      } else {
        Terminal.print(table(all).orIfEmpty("no scratch folders"));
      }
      return ExitCode.OK;
    }
  }

  /** Deletes the old ones. */
  @Command(
      name = "clean",
      description = "Delete working directories that have not changed for a while.",
      footer = {"", "Directories of running attempts are kept."})
  static final class CleanCommand implements Callable<Integer> {
    @Mixin final CommonOptions common = new CommonOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Option(
        names = "--older-than",
        paramLabel = "AGE",
        required = true,
        description = "how long it has not changed, such as 12h or 7d")
    String olderThan = "";

    @Option(names = "--dry-run", description = "only show what would be deleted")
    boolean dryRun;

    @Override
    public Integer call() {
      Scratch scratch = common.settings().storage().scratch();
      Duration age = Input.duration("--older-than", olderThan);
      if (age.isNegative()) {
        throw new CommandException(ExitCode.USAGE, "--older-than: an age cannot be negative");
      }
      Instant before = Instant.now().minus(age);
      List<Scratch.Kept> chosen = new ArrayList<>();
      for (Scratch.Kept kept : all(scratch)) {
        if (kept.changedAt().isBefore(before)
            && !kept.inUse()
            && (dryRun || deleted(scratch, kept))) {
          chosen.add(kept);
        }
      }
      if (output.json) {
        Shown.print(data(chosen));
        return ExitCode.OK;
      }
      Terminal.print(table(chosen).orIfEmpty("nothing to delete"));
      if (!chosen.isEmpty()) {
        Terminal.printf(
            "%s %s, %s%n",
            dryRun ? "would delete" : "deleted",
            Plural.of(chosen.size(), "folder"),
            Shown.bytes(chosen.stream().mapToLong(Scratch.Kept::bytes).sum()));
      }
      return ExitCode.OK;
    }

    private static boolean deleted(Scratch scratch, Scratch.Kept kept) {
      try {
        return scratch.delete(kept);
      } catch (IOException e) {
        throw new CommandException(
            ExitCode.LOCAL_ERROR, kept.folder() + " cannot be deleted: " + e.getMessage());
      }
    }
  }

  private static List<Scratch.Kept> all(Scratch scratch) {
    try {
      return scratch.list();
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.LOCAL_ERROR, "the scratch folder cannot be read: " + e.getMessage());
    }
  }

  private static List<ObjectNode> data(List<Scratch.Kept> folders) {
    return folders.stream().map(ScratchCommand::node).toList();
  }

  private static Table table(List<Scratch.Kept> folders) {
    Table table = new Table("JOB", "ATTEMPT", "SIZE", "CHANGED", "STATE", "FOLDER");
    for (Scratch.Kept kept : folders) {
      table.row(
          kept.lease().job(),
          kept.lease().attempt(),
          Shown.bytes(kept.bytes()),
          kept.changedAt(),
          kept.inUse() ? "in use" : "kept",
          kept.folder());
    }
    return table;
  }

  private static ObjectNode node(Scratch.Kept kept) {
    return Shown.object()
        .put("job", kept.lease().job().toString())
        .put("attempt", kept.lease().attempt())
        .put("bytes", kept.bytes())
        .put("changedAt", kept.changedAt().toString())
        .put("inUse", kept.inUse())
        .put("folder", kept.folder().toString());
  }
}
