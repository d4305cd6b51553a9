package dev.holdfast.app.admin;

import dev.holdfast.app.cli.Table;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Statistics;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;

/** Jobs, counted by queue, kind and state. */
@Command(name = "stats", description = "Count jobs by queue, kind and state.")
public final class StatsCommand extends ReadCommand<Statistics> {
  @Override
  protected Statistics read(Operator operator) {
    return operator.jobs().statistics();
  }

  @Override
  protected Object json(Statistics statistics) {
    return statistics;
  }

  @Override
  protected String text(Statistics statistics) {
    Table table =
        new Table(
            "QUEUE",
            "KIND",
            "WAITING",
            "PENDING",
            "RUNNING",
            "RETRYING",
            "SUCCEEDED",
            "FAILED",
            "CANCELLED");
    Map<String, Map<JobState, Long>> lines = new LinkedHashMap<>();
    for (Statistics.Row row : statistics.rows()) {
      lines
          .computeIfAbsent(row.queue() + "\t" + row.kind(), k -> new EnumMap<>(JobState.class))
          .put(row.state(), row.jobs());
    }
    lines.forEach(
        (name, counts) -> row(table, name.split("\t", 2)[0], name.split("\t", 2)[1], counts));
    row(table, "all", "", statistics.byState());
    return table.toString();
  }

  private static void row(Table table, String queue, String kind, Map<JobState, Long> counts) {
    Object[] cells = new Object[2 + JobState.values().length];
    cells[0] = queue;
    cells[1] = kind;
    int column = 2;
    for (JobState state : JobState.values()) {
      cells[column++] = counts.getOrDefault(state, 0L);
    }
    table.row(cells);
  }
}
