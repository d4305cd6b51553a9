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
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Plural;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JobTargets targets = new JobTargets();
  @Mixin final JsonOption output = new JsonOption();

  @Override
  public Integer call() {
    List<ShortId> given = targets.ids();
    try (Operator operator = connection.open()) {
      return given.isEmpty()
          ? retryChosen(operator)
          : retryNamed(operator.jobs(), ShortId.in(operator, given));
    }
  }

  private int retryChosen(Operator operator) {
    JobFilter filter = JobsCommand.chosen(targets, Selection.Verb.RETRY);
    if (targets.dryRun) {
      return JobsCommand.dryRun(operator, filter, output.json, "requeued");
    }
    long retried = 0;
    long refused = 0;
    JobCursor next = null;
    do {
      JobOperator.Retried some = operator.jobs().retry(new Selection.Matching(filter, next));
      retried += some.retried();
      refused += some.refused();
      next = some.next();
    } while (next != null);
    print(retried, refused, 0);
    return ExitCode.OK;
  }

  /** As a server answers for many: numbers, because there may be very many. */
  private void print(long retried, long refused, long notFound) {
    if (output.json) {
      Shown.print(new JobOperator.Retried(retried, refused, notFound, null));
    } else if (retried + refused > 0 || notFound == 0) {
      Terminal.println(Plural.of(retried, "job") + " requeued");
    }
  }

  private int retryNamed(JobOperator jobs, List<JobId> named) {
    long retried = 0;
    Map<JobId, JobState> refused = new LinkedHashMap<>();
    List<JobId> unknown = new ArrayList<>();
    for (JobId job : named) {
      try {
        jobs.retry(job);
        retried++;
      } catch (OperatorException no) {
        JobState state = no.state().orElse(null);
        if (state != null) {
          refused.put(job, state);
        } else if (no.reason() == OperatorException.Reason.NOT_FOUND) {
          unknown.add(job);
        } else {
          throw no;
        }
      }
    }
    print(retried, refused.size(), unknown.size());
    refused.forEach(
        (job, state) ->
            Terminal.error(
                "holdfast: %s is %s: only FAILED and CANCELLED jobs can be retried"
                    .formatted(job, state)));
    unknown.forEach(job -> Terminal.error("holdfast: there is no job " + job));
    return !unknown.isEmpty()
        ? ExitCode.NOT_FOUND
        : refused.isEmpty() ? ExitCode.OK : ExitCode.REFUSED;
  }
}
