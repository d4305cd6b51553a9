package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.value.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What jobs fail of. */
@Command(
    name = "failures",
    description = {
      "Group FAILED jobs by what they failed of.",
      "A group has one kind, one code, and messages that differ only in numbers",
      "and ids."
    },
    footer = {
      "",
      "List or retry a group by its signature:",
      "  holdfast jobs list --search failure:SIGNATURE",
      "  holdfast jobs retry --search failure:SIGNATURE --dry-run"
    })
public final class FailuresCommand implements Callable<Integer> {
  private static final int MOST_GROUPS = 500;
  private static final int MESSAGE_CHARS = 80;

  @Mixin final ConnectionOptions reach = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      description = "how many groups at most; default: 20")
  int limit = 20;

  @Override
  public Integer call() {
    if (limit < 1 || limit > MOST_GROUPS) {
      throw new CommandException(ExitCode.USAGE, "--limit must lie between 1 and " + MOST_GROUPS);
    }
    try (Operator operator = reach.open()) {
      FailureGroups failures = operator.failures(limit);
      if (output.json) {
        Shown.print(failures);
      } else {
        print(failures);
      }
      return ExitCode.OK;
    }
  }

  private static void print(FailureGroups failures) {
    Instant now = Instant.now();
    Table table = new Table("SIGNATURE", "JOBS", "KIND", "CODE", "LAST", "FIRST", "MESSAGE");
    for (FailureGroups.Group group : failures.groups()) {
      table.row(
          group.signature(),
          group.jobs(),
          group.kind(),
          group.code(),
          ago(group.lastSeen(), now),
          ago(group.firstSeen(), now),
          Text.excerpt(group.pattern(), MESSAGE_CHARS));
    }
    System.out.print(table.isEmpty() ? "no failed jobs\n" : table.toString());
  }

  private static String ago(Instant moment, Instant now) {
    Duration age = Duration.between(moment, now);
    return Durations.text(age.isNegative() ? Duration.ZERO : age) + " ago";
  }
}
