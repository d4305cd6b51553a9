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
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Plural;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Puts dead jobs back. */
@Command(
    name = "retry",
    description = {
      "Retry FAILED or CANCELLED jobs with a fresh budget of attempts.",
      "Either the jobs named, or all that match --state, --queue and --kind."
    })
final class JobsRetryCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions reach = new ConnectionOptions();
  @Mixin final JobSelection selection = new JobSelection();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(arity = "0..*", paramLabel = "ID", description = "the jobs' ids")
  List<String> ids = List.of();

  @Override
  public Integer call() {
    if (ids.isEmpty() == selection.isEmpty()) {
      throw new CommandException(
          ExitCode.USAGE, "name jobs by id, or choose them by --state, --queue or --kind");
    }
    List<JobId> named = ids.stream().map(JobId::parse).toList();
    try (Operator operator = reach.open()) {
      if (named.isEmpty()) {
        return report(retryChosen(operator), List.of(), operator);
      }
      named.forEach(id -> JobsCommand.existing(operator, id));
      Set<JobId> retried = operator.retry(named);
      return report(
          List.copyOf(retried),
          named.stream().filter(id -> !retried.contains(id)).toList(),
          operator);
    }
  }

  private List<JobId> retryChosen(Operator operator) {
    JobFilter filter = selection.filter();
    if (filter.states().isEmpty()) {
      filter = filter.states(EnumSet.of(JobState.FAILED));
    } else if (!JobState.RETRYABLE.containsAll(filter.states())) {
      throw new CommandException(ExitCode.USAGE, "only FAILED and CANCELLED jobs can be retried");
    }
    List<JobId> retried = new ArrayList<>();
    filter = filter.limit(JobFilter.MOST);
    List<JobStatus> page;
    do {
      page = operator.list(filter);
      if (!page.isEmpty()) {
        retried.addAll(operator.retry(page.stream().map(JobStatus::id).toList()));
        filter = filter.before(page.getLast().id());
      }
    } while (page.size() == JobFilter.MOST);
    return retried;
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
