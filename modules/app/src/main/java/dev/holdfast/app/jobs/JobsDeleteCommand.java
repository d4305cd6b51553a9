package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.job.JobId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
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
  @Mixin final ConnectionOptions reach = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(arity = "1..*", paramLabel = "ID", description = "the jobs' ids")
  List<String> ids = List.of();

  @Override
  public Integer call() {
    List<JobId> jobs = ids.stream().map(JobId::parse).toList();
    List<Deletion> all = new ArrayList<>();
    int code = ExitCode.OK;
    try (Operator operator = reach.open()) {
      for (JobId job : jobs) {
        Optional<Deletion> deletion = operator.delete(job);
        if (deletion.isEmpty()) {
          Terminal.error("holdfast: there is no job " + job);
          code = ExitCode.NOT_FOUND;
        } else if (deletion.get().outcome() != Deletion.Outcome.DELETED && code == ExitCode.OK) {
          code = ExitCode.REFUSED;
        }
        deletion.ifPresent(all::add);
      }
    }
    print(all);
    return code;
  }

  private void print(List<Deletion> all) {
    if (output.json) {
      Shown.print(
          all.stream()
              .map(
                  each ->
                      Shown.object()
                          .put("id", each.job().toString())
                          .put("state", each.state().name())
                          .put("outcome", each.outcome().name()))
              .toList());
    } else {
      all.forEach(each -> Terminal.println(each.job() + "  " + text(each)));
    }
  }

  private static String text(Deletion deletion) {
    return switch (deletion.outcome()) {
      case DELETED -> "deleted; it was " + deletion.state();
      case RUNNING -> "refused: it runs; cancel it first";
      case AWAITED -> "refused: other jobs wait for it; cancel it, or delete them first";
    };
  }
}
