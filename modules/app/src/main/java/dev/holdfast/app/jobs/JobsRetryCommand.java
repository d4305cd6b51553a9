package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JobSelection;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Plural;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Puts dead jobs back. */
@Command(
    name = "retry",
    description = {
      "Retry FAILED or CANCELLED jobs with a fresh budget of attempts.",
      "Either the jobs named, or all that match --state, --queue, --kind",
      "and --search."
    })
final class JobsRetryCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions reach = new ConnectionOptions();
  @Mixin final JobSelection selection = new JobSelection();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(arity = "0..*", paramLabel = "ID", description = "the jobs' ids")
  List<String> ids = List.of();

  @Option(names = "--dry-run", description = "only say how many jobs these are")
  boolean dryRun;

  @Override
  public Integer call() {
    if (ids.isEmpty() == selection.isEmpty()) {
      throw new CommandException(
          ExitCode.USAGE,
          "name jobs by id, or choose them by --state, --queue, --kind or --search");
    }
    if (dryRun && !ids.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, "--dry-run counts jobs of a filter, not ids");
    }
    List<JobId> named = ids.stream().map(JobId::parse).toList();
    try (Operator operator = reach.open()) {
      if (named.isEmpty()) {
        List<JobId> chosen = new ArrayList<>();
        JobsCommand.pages(
            operator, filter(), page -> chosen.addAll(dryRun ? page : operator.retry(page)));
        return dryRun ? wouldBe(chosen.size()) : report(chosen, List.of(), operator);
      }
      named.forEach(id -> JobsCommand.existing(operator, id));
      Set<JobId> retried = operator.retry(named);
      return report(
          List.copyOf(retried),
          named.stream().filter(id -> !retried.contains(id)).toList(),
          operator);
    }
  }

  private JobFilter filter() {
    JobFilter filter = selection.filter();
    if (filter.states().isEmpty()) {
      return filter.states(EnumSet.of(JobState.FAILED));
    }
    if (!JobState.RETRYABLE.containsAll(filter.states())) {
      throw new CommandException(ExitCode.USAGE, "only FAILED and CANCELLED jobs can be retried");
    }
    return filter;
  }

  private int wouldBe(int jobs) {
    if (output.json) {
      Shown.print(Shown.object().put("jobs", jobs));
    } else {
      System.out.println(Plural.of(jobs, "job") + " would be requeued");
    }
    return ExitCode.OK;
  }

  private int report(List<JobId> retried, List<JobId> refused, Operator operator) {
    if (output.json) {
      var answer = Shown.object();
      retried.forEach(id -> answer.withArray("retried").add(id.toString()));
      refused.forEach(id -> answer.withArray("refused").add(id.toString()));
      Shown.print(answer);
    } else {
      System.out.println(Plural.of(retried.size(), "job") + " requeued");
    }
    for (JobId id : refused) {
      System.err.println(
          "holdfast: "
              + id
              + " is "
              + JobsCommand.existing(operator, id).state()
              + ": only FAILED and CANCELLED jobs can be retried");
    }
    return refused.isEmpty() ? ExitCode.OK : ExitCode.REFUSED;
  }
}
