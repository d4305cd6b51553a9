package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.contract.resource.CancellationResource;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.JobId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Cancels jobs. */
@Command(
    name = "cancel",
    description = {
      "Cancel jobs.",
      "A job that does not run is cancelled at once; the worker of a running job is",
      "asked to stop it. Exit code 6 when a job has already ended."
    })
final class JobsCancelCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions reach = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(arity = "1..*", paramLabel = "ID", description = "the jobs' ids")
  List<String> ids = List.of();

  @Option(names = "--cascade", description = "cancel their children, too")
  boolean cascade;

  @Option(
      names = {"-r", "--reason"},
      paramLabel = "TEXT",
      description = "kept with the job")
  String reason = "requested on the command line";

  @Override
  public Integer call() {
    List<JobId> jobs = ids.stream().map(JobId::parse).toList();
    List<Cancellation> all = new ArrayList<>();
    List<JobId> unknown = new ArrayList<>();
    try (Operator operator = reach.open()) {
      for (JobId job : jobs) {
        List<Cancellation> cancelled = operator.cancel(job, cascade, reason);
        all.addAll(cancelled);
        if (cancelled.isEmpty()) {
          unknown.add(job);
        }
      }
    }
    print(all, unknown);
    if (!unknown.isEmpty()) {
      return ExitCode.NOT_FOUND;
    }
    return all.stream()
            .anyMatch(
                c -> jobs.contains(c.job()) && c.outcome() == Cancellation.Outcome.ALREADY_TERMINAL)
        ? ExitCode.REFUSED
        : ExitCode.OK;
  }

  private void print(List<Cancellation> all, List<JobId> unknown) {
    if (output.json) {
      Shown.print(all.stream().map(CancellationResource::of).toList());
    } else {
      all.forEach(c -> System.out.println(c.job() + "  " + text(c)));
    }
    unknown.forEach(job -> System.err.println("holdfast: there is no job " + job));
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
