package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Deletes jobs. */
@Command(
    name = "delete",
    description = {
      "Delete jobs that do not run, with all that is known of them.",
      "A running job is refused, and so is one that others wait for: cancel it",
      "instead. Exit code 6 when a job was refused."
    })
final class JobsDeleteCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(arity = "1..*", paramLabel = "ID", description = "the jobs' ids")
  List<String> ids = List.of();

  @Override
  public Integer call() {
    List<JobId> jobs = ids.stream().map(JobId::parse).toList();
    List<Deleted> all = new ArrayList<>();
    int code = ExitCode.OK;
    try (Operator operator = connection.open()) {
      for (JobId job : jobs) {
        Deleted deleted = deleted(operator, job);
        code = code == ExitCode.OK ? deleted.code() : code;
        all.add(deleted);
      }
    }
    print(all);
    return code;
  }

  /** What became of one of the jobs; nothing without a state is known of it. */
  private record Deleted(JobId job, @Nullable JobState state, String outcome, String text) {
    int code() {
      return state == null
          ? ExitCode.NOT_FOUND
          : outcome.equals("DELETED") ? ExitCode.OK : ExitCode.REFUSED;
    }
  }

  private static Deleted deleted(Operator operator, JobId job) {
    try {
      JobState state = operator.jobs().delete(job);
      return new Deleted(job, state, "DELETED", "deleted; it was " + state);
    } catch (OperatorException refused) {
      JobState state = refused.state().orElse(null);
      return switch (refused.reason()) {
        case NOT_FOUND -> new Deleted(job, null, "", "");
        case JOB_RUNNING -> new Deleted(job, state, "RUNNING", "refused: it runs; cancel it first");
        case JOB_AWAITED ->
            new Deleted(
                job,
                state,
                "AWAITED",
                "refused: other jobs wait for it; cancel it, or delete them first");
        default -> throw refused;
      };
    }
  }

  private void print(List<Deleted> all) {
    List<Deleted> known = all.stream().filter(each -> each.state() != null).toList();
    all.stream()
        .filter(each -> each.state() == null)
        .forEach(each -> Terminal.error("holdfast: there is no job " + each.job()));
    if (output.json) {
      Shown.print(
          known.stream()
              .map(
                  each ->
                      Shown.object()
                          .put("id", each.job().toString())
                          .put("state", String.valueOf(each.state()))
                          .put("outcome", each.outcome()))
              .toList());
    } else {
      known.forEach(each -> Terminal.println(each.job() + "  " + each.text()));
    }
  }
}
