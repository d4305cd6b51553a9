package dev.holdfast.app.admin;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.notice.Notice;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Notices: list, send again. */
@Command(
    name = "notices",
    description = {"What servers told others of the questions that jobs ask."},
    mixinStandardHelpOptions = true,
    subcommands = {NoticesCommand.ListCommand.class, NoticesCommand.SendCommand.class},
    synopsisSubcommandLabel = "COMMAND")
public final class NoticesCommand {
  /** The newest of them. */
  @Command(name = "list", description = "List notices, the newest first.")
  static final class ListCommand extends ReadCommand<List<Notice>> {
    @Option(
        names = "--state",
        paramLabel = "STATE",
        description = "only pending, delivered, superseded or given_up ones")
    @Nullable String state;

    @Option(
        names = {"-n", "--limit"},
        paramLabel = "N",
        description = "how many at most; default: 50")
    int limit = 50;

    @Override
    protected void checkOptions() {
      Input.limit(limit, Notice.MOST);
      if (state != null) {
        var unused = Notice.State.of(state);
      }
    }

    @Override
    protected List<Notice> read(Operator operator) {
      return operator.notices().list(state == null ? null : Notice.State.of(state), limit);
    }

    @Override
    protected Object json(List<Notice> notices) {
      return notices;
    }

    @Override
    protected String text(List<Notice> notices) {
      Table table =
          new Table("ID", "STATE", "TRIES", "WRITTEN", "NEXT TRY", "LAST ERROR", "JOB", "QUESTION");
      for (Notice each : notices) {
        table.row(
            each.id(),
            each.state().word(),
            each.attempts(),
            each.createdAt(),
            each.nextTryAt() == null ? "" : each.nextTryAt(),
            each.lastError() == null ? "" : each.lastError(),
            each.jobId(),
            each.waitId());
      }
      return table.orIfEmpty("no notices");
    }
  }

  /** Makes one due. */
  @Command(
      name = "send",
      description = {
        "Send a notice again, or for the first time at once.",
        "Exit code 6 when its question is not asked any longer."
      })
  static final class SendCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Parameters(paramLabel = "ID", description = "the notice's id")
    String id = "";

    @Override
    public Integer call() {
      UUID notice = parsed(id);
      try (Operator operator = connection.open()) {
        operator.notices().sendAgain(notice);
        if (output.json) {
          Shown.print(Shown.object().put("id", notice.toString()).put("state", "PENDING"));
        } else {
          Terminal.println(notice + "  a server sends it within seconds");
        }
        return ExitCode.OK;
      }
    }

    private static UUID parsed(String text) {
      try {
        UUID id = UUID.fromString(text);
        if (id.toString().equalsIgnoreCase(text)) {
          return id;
        }
      } catch (IllegalArgumentException malformed) {
        // answered below
      }
      throw new CommandException(
          ExitCode.USAGE, "the id of a notice is a UUID: 'holdfast notices list' shows it");
    }
  }
}
