package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.RunGraph;
import dev.holdfast.model.search.RunPage;
import dev.holdfast.model.search.RunSummary;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs: list, show. */
@Command(
    name = "runs",
    description = "List runs, and show one as a tree of its jobs.",
    mixinStandardHelpOptions = true,
    subcommands = {RunsCommand.ListCommand.class, RunsCommand.ShowCommand.class},
    synopsisSubcommandLabel = "COMMAND")
public final class RunsCommand {
  /** The jobs of a run, by state. */
  private static String states(RunSummary run) {
    return run.states().entrySet().stream()
        .map(each -> each.getValue() + " " + each.getKey())
        .collect(Collectors.joining(", "));
  }

  private static String took(@Nullable Instant started, @Nullable Instant finished, Instant now) {
    return started == null
        ? ""
        : Durations.text(Duration.between(started, finished == null ? now : finished));
  }

  /** Runs, newest first. */
  @Command(name = "list", description = "List runs, newest first.")
  static final class ListCommand extends ReadCommand<RunPage> {
    private static final int MOST = 200;

    @Option(
        names = {"-n", "--limit"},
        paramLabel = "N",
        description = "how many at most; default: 50")
    int limit = 50;

    @Option(
        names = "--before",
        paramLabel = "CURSOR",
        description = "the next page: what the page before printed")
    @Nullable String before;

    private @Nullable JobCursor cursor;

    @Override
    protected void checkOptions() {
      Input.limit(limit, MOST);
      cursor = before == null ? null : JobCursor.parse(before);
    }

    @Override
    protected RunPage read(Operator operator) {
      return operator.jobs().runs(cursor, limit);
    }

    @Override
    protected Object json(RunPage page) {
      return page.runs();
    }

    @Override
    protected String text(RunPage page) {
      Table table = new Table("RUN", "STATE", "KIND", "JOBS", "AGE", "TOOK", "STATES");
      Instant now = Instant.now();
      for (RunSummary run : page.runs()) {
        table.row(
            run.id(),
            run.state(),
            run.kind(),
            run.jobs() + (run.more() ? "+" : ""),
            Durations.age(run.createdAt(), now),
            took(run.startedAt(), run.finishedAt(), now),
            states(run));
      }
      String more = page.next() == null ? "" : "more: --before %s%n".formatted(page.next());
      return table.orIfEmpty("no runs") + more;
    }
  }

  /** One run. */
  @Command(
      name = "show",
      description = "Show a run as a tree: each job below the last one it waits for.")
  static final class ShowCommand extends ReadCommand<RunGraph> {
    @Parameters(
        paramLabel = "ID",
        description = {"the id of the run, or of a job in it, or its first", "or last characters"})
    String id = "";

    @Override
    protected void checkOptions() {
      var unused = ShortId.of(id);
    }

    @Override
    protected RunGraph read(Operator operator) {
      JobId given = ShortId.of(id).in(operator);
      Optional<JobId> runOfJob = operator.jobs().find(given).map(JobStatus::run);
      return operator
          .jobs()
          .run(runOfJob.orElse(given))
          .orElseThrow(() -> new CommandException(ExitCode.NOT_FOUND, "there is no run " + given));
    }

    @Override
    protected Object json(RunGraph graph) {
      return graph;
    }

    @Override
    protected String text(RunGraph graph) {
      RunSummary run = graph.run();
      Instant now = Instant.now();
      Table table = new Table("JOB", "STATE", "ATTEMPT", "PROGRESS", "TOOK", "ID", "NOTE");
      for (RunTree.Line line : RunTree.of(graph)) {
        RunGraph.Node job = line.job();
        table.row(
            new Table.Indented(line.indent(), job.runKey()),
            job.state(),
            job.attempt(),
            job.progress() == null ? "" : job.progress() + " %",
            took(job.startedAt(), job.finishedAt(), now),
            job.id(),
            line.note(job.failureCode()));
      }
      String head = "%s %s  %s%n  %s%n%n".formatted(run.kind(), run.id(), run.state(), states(run));
      String rest =
          run.jobs() > graph.jobs().size()
              ? "the first %d jobs are shown%n".formatted(graph.jobs().size())
              : "";
      return head + table + rest;
    }
  }
}
