package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JobTargets;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
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

/** Retries jobs that have failed or were cancelled. */
@Command(
    name = "retry",
    description = {
      "Retry FAILED or CANCELLED jobs with a fresh budget of attempts.",
      "Either the jobs named, or all that match --state, --queue, --kind,",
      "--tag and --search."
    })
final class JobsRetryCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions reach = new ConnectionOptions();
  @Mixin final JobTargets targets = new JobTargets();
  @Mixin final JsonOption output = new JsonOption();

  @Override
  public Integer call() {
    List<ShortId> given = targets.ids();
    try (Operator operator = reach.open()) {
      List<JobId> named = ShortId.in(operator, given);
      if (named.isEmpty()) {
        List<JobId> chosen = new ArrayList<>();
        JobsCommand.pages(
            operator,
            filter(),
            page -> chosen.addAll(targets.dryRun ? page : operator.retry(page)));
        return targets.dryRun ? wouldBe(chosen.size()) : report(chosen, List.of(), operator);
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
    JobFilter filter = targets.selection.filter();
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
      Terminal.println(Plural.of(jobs, "job") + " would be requeued");
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
      Terminal.println(Plural.of(retried.size(), "job") + " requeued");
    }
    for (JobId id : refused) {
      Terminal.error(
          "holdfast: "
              + id
              + " is "
              + JobsCommand.existing(operator, id).state()
              + ": only FAILED and CANCELLED jobs can be retried");
    }
    return refused.isEmpty() ? ExitCode.OK : ExitCode.REFUSED;
  }
}
