package dev.holdfast.app.admin;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.contract.resource.StatisticsResource;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Statistics;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Counts. */
@Command(name = "stats", description = "Count jobs by queue, kind and state.")
public final class StatsCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions reach = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Override
  public Integer call() {
    try (Operator operator = reach.open()) {
      Statistics statistics = operator.statistics();
      if (output.json) {
        Shown.print(StatisticsResource.of(statistics));
      } else {
        print(statistics);
      }
      return ExitCode.OK;
    }
  }

  private static void print(Statistics statistics) {
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
    System.out.print(table);
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
