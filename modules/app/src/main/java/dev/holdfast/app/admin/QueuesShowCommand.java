package dev.holdfast.app.admin;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.operate.KnownQueues;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.JobHistory.Percentiles;
import dev.holdfast.model.ops.JobHistory.Tally;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.value.Tenant;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** One queue: what is in it now, and how it went. */
@Command(
    name = "show",
    description = {
      "Show a queue, its throughput, and how long its jobs waited and ran.",
      "Percentiles are of jobs that succeeded, and right within a tenth."
    })
final class QueuesShowCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(paramLabel = "QUEUE", description = "the queue's name")
  String queue = "";

  @Option(names = "--kind", paramLabel = "KIND", description = "only jobs of this kind")
  @Nullable String kind;

  @Option(names = "--over", paramLabel = "TIME", description = "1m to 7d; default: 1h")
  String over = "1h";

  @Option(names = "--points", description = "also print the history point by point")
  boolean points;

  @Override
  public Integer call() {
    JobHistory.Query query = query();
    Settings settings = connection.settings();
    try (Operator operator = connection.open(settings)) {
      JobHistory history = operator.jobs().history(query);
      QueueOperator.View view = operator.queues().show(queue);
      if (history.kinds().isEmpty() && kind == null) {
        KnownQueues.require(queue, operator, settings, "");
      }
      if (output.json) {
        Shown.print(Shown.object().putPOJO("queue", view).putPOJO("history", history));
      } else {
        print(view, history);
      }
      return ExitCode.OK;
    }
  }

  private JobHistory.Query query() {
    Duration span = Input.duration("--over", over);
    try {
      return new JobHistory.Query(span, queue, kind, Tenant.ANY);
    } catch (IllegalArgumentException outOfBounds) {
      throw new CommandException(ExitCode.USAGE, "--over: '" + over + "' is not between 1m and 7d");
    }
  }

  private void print(QueueOperator.View view, JobHistory history) {
    QueueStatus status = view.status();
    Terminal.printf(
        "%s: %d due, %d delayed, %d retrying, %d waiting, %d running, %s%n",
        status.name(),
        status.due(),
        status.delayed(),
        status.retrying(),
        status.waiting(),
        status.running(),
        QueuesCommand.state(view));
    if (history.knownSince().isAfter(history.until().minus(Input.duration("--over", over)))) {
      Terminal.println("history is known since " + history.knownSince());
    }
    Table kinds =
        new Table(
            "KIND",
            "ENQUEUED",
            "SUCCEEDED",
            "FAILED",
            "CANCELLED",
            "WAIT P50",
            "P95",
            "P99",
            "RUN P50",
            "P95",
            "P99");
    history.kinds().forEach(each -> row(kinds, each.kind(), each.tally()));
    if (kind == null) {
      row(kinds, "all", history.total());
    }
    Terminal.printf("%nthe last %s:%n%s", over, kinds);
    if (points) {
      Terminal.printf("%nby time:%n%s", points(history));
    }
  }

  private static void row(Table table, String name, Tally tally) {
    Percentiles wait = tally.waitTime();
    Percentiles run = tally.runTime();
    table.row(
        name,
        tally.enqueued(),
        tally.succeeded(),
        tally.failed(),
        tally.cancelled(),
        wait == null ? "" : Durations.text(wait.p50()),
        wait == null ? "" : Durations.text(wait.p95()),
        wait == null ? "" : Durations.text(wait.p99()),
        run == null ? "" : Durations.text(run.p50()),
        run == null ? "" : Durations.text(run.p95()),
        run == null ? "" : Durations.text(run.p99()));
  }

  /** A point that is not known is shown as such, and not as one at which nothing happened. */
  private static Table points(JobHistory history) {
    Table table =
        new Table(
            "FROM", "ENQUEUED", "SUCCEEDED", "FAILED", "CANCELLED", "DUE", "WAIT P95", "RUN P95");
    for (JobHistory.Point point : history.points()) {
      Tally tally = point.tally();
      Percentiles wait = tally == null ? null : tally.waitTime();
      Percentiles run = tally == null ? null : tally.runTime();
      table.row(
          point.at(),
          tally == null ? "?" : tally.enqueued(),
          tally == null ? "?" : tally.succeeded(),
          tally == null ? "?" : tally.failed(),
          tally == null ? "?" : tally.cancelled(),
          point.depth() == null ? "?" : point.depth().due(),
          wait == null ? "" : Durations.text(wait.p95()),
          run == null ? "" : Durations.text(run.p95()));
    }
    return table;
  }
}
