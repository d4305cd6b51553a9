package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JobTargets;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.Selection;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Plural;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Cancels jobs. */
@Command(
    name = "cancel",
    description = {
      "Cancel jobs: those named, or all that match --state, --queue, --kind,",
      "--tag and --search.",
      "A job that does not run is cancelled at once; the worker of a running job is",
      "asked to stop it. Exit code 6 when a job has already ended."
    })
final class JobsCancelCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JobTargets targets = new JobTargets();
  @Mixin final JsonOption output = new JsonOption();

  @Option(names = "--cascade", description = "cancel their children, too")
  boolean cascade;

  @Option(
      names = {"-r", "--reason"},
      paramLabel = "TEXT",
      description = "kept with the job")
  String reason = "requested on the command line";

  @Override
  public Integer call() {
    List<ShortId> named = targets.ids();
    return named.isEmpty() ? cancelChosen() : cancelNamed(named);
  }

  private int cancelChosen() {
    JobFilter filter = JobsCommand.chosen(targets, Selection.Verb.CANCEL);
    long cancelled = 0;
    long requested = 0;
    try (Operator operator = connection.open()) {
      if (targets.dryRun) {
        return JobsCommand.dryRun(operator, filter, output.json, "cancelled");
      }
      JobCursor next = null;
      do {
        JobOperator.Cancelled some =
            operator.jobs().cancel(new Selection.Matching(filter, next), cascade, reason);
        cancelled += some.cancelled();
        requested += some.requested() + some.alreadyRequested();
        next = some.next();
      } while (next != null);
    }
    print(cancelled, requested);
    return ExitCode.OK;
  }

  private void print(long cancelled, long requested) {
    if (output.json) {
      Shown.print(Shown.object().put("cancelled", cancelled).put("requested", requested));
    } else {
      Terminal.println(
          "%s cancelled, workers of %d were asked to stop"
              .formatted(Plural.of(cancelled, "job"), requested));
    }
  }

  private int cancelNamed(List<ShortId> named) {
    List<JobId> jobs;
    List<Cancellation> all = new ArrayList<>();
    List<JobId> unknown = new ArrayList<>();
    try (Operator operator = connection.open()) {
      jobs = ShortId.in(operator, named);
      for (JobId job : jobs) {
        try {
          all.addAll(operator.jobs().cancel(job, cascade, reason));
        } catch (OperatorException refused) {
          JobState state = refused.state().orElse(null);
          if (state != null) {
            all.add(new Cancellation(job, state, Cancellation.Outcome.ALREADY_TERMINAL));
          } else if (refused.reason() == OperatorException.Reason.NOT_FOUND) {
            unknown.add(job);
          } else {
            throw refused;
          }
        }
      }
    }
    print(all, unknown);
    return unknown.isEmpty() ? exitCode(all, jobs) : ExitCode.NOT_FOUND;
  }

  private static int exitCode(List<Cancellation> all, List<JobId> jobs) {
    return all.stream()
            .anyMatch(
                c -> jobs.contains(c.job()) && c.outcome() == Cancellation.Outcome.ALREADY_TERMINAL)
        ? ExitCode.REFUSED
        : ExitCode.OK;
  }

  private void print(List<Cancellation> all, List<JobId> unknown) {
    if (output.json) {
      Shown.print(all);
    } else {
      all.forEach(c -> Terminal.println(c.job() + "  " + text(c)));
    }
    unknown.forEach(job -> Terminal.error("holdfast: there is no job " + job));
  }

  private static String text(Cancellation cancellation) {
    return switch (cancellation.outcome()) {
      case CANCELLED -> "cancelled";
      case REQUESTED -> "running: its worker was asked to stop";
      case ALREADY_REQUESTED -> "running: its worker was already asked to stop";
      case ALREADY_TERMINAL -> "refused: it has already ended, " + cancellation.previousState();
    };
  }
}
