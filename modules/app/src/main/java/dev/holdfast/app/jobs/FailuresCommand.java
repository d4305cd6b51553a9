package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.value.Text;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Failed jobs, grouped by their failure. */
@Command(
    name = "failures",
    description = {
      "Group FAILED jobs by their failure.",
      "A group has one kind, one code, and messages that differ only in numbers",
      "and ids."
    },
    footer = {
      "",
      "List or retry a group by its signature:",
      "  holdfast jobs list --search failure:SIGNATURE",
      "  holdfast jobs retry --search failure:SIGNATURE --dry-run"
    })
public final class FailuresCommand extends ReadCommand<FailureGroups> {
  private static final int MOST_GROUPS = 500;
  private static final int MESSAGE_CHARS = 80;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      description = "how many groups at most; default: 20")
  int limit = 20;

  @Override
  protected void checkOptions() {
    Input.limit(limit, MOST_GROUPS);
  }

  @Override
  protected FailureGroups read(Operator operator) {
    return operator.jobs().failures(limit);
  }

  @Override
  protected Object json(FailureGroups failures) {
    return failures;
  }

  @Override
  protected String text(FailureGroups failures) {
    return table(failures, false);
  }

  @Override
  protected String wide(FailureGroups failures) {
    return table(failures, true);
  }

  private static String table(FailureGroups failures, boolean wide) {
    Instant now = Instant.now();
    List<String> columns =
        new ArrayList<>(List.of("SIGNATURE", "JOBS", "KIND", "CODE", "LAST", "FIRST", "MESSAGE"));
    if (wide) {
      columns.addAll(List.of("LATEST", "QUEUES", "WORKERS"));
    }
    Table table = new Table(columns.toArray(String[]::new));
    for (FailureGroups.Group group : failures.groups()) {
      List<Object> cells =
          new ArrayList<>(
              List.of(
                  group.signature(),
                  group.jobs(),
                  group.kind(),
                  group.code(),
                  Durations.age(group.lastSeen(), now) + " ago",
                  Durations.age(group.firstSeen(), now) + " ago",
                  wide
                      ? Terminal.oneLine(group.message())
                      : Text.excerpt(group.pattern(), MESSAGE_CHARS)));
      if (wide) {
        cells.add(group.latest());
        cells.add(String.join(", ", group.queues()));
        cells.add(String.join(", ", group.workers()));
      }
      table.row(cells.toArray());
    }
    return table.orIfEmpty("no failed jobs");
  }
}
