package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.model.job.JobId;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Makes a link by which somebody else answers the question of a job. */
@Command(
    name = "link",
    description = {
      "Print a link that answers what a job asks, without a key.",
      "Whoever has the link decides: send it to that person alone. It ends with",
      "the question, and after thirty days at the latest.",
      "Exit code 6 when the job asks nothing."
    })
final class JobsLinkCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(paramLabel = "ID", description = JobsCommand.ID)
  String id = "";

  @Option(
      names = "--wait",
      paramLabel = "ID",
      description = "the id of the question; default: the open one")
  @Nullable String wait;

  @Override
  public Integer call() {
    ShortId named = ShortId.of(id);
    try (Operator operator = connection.open()) {
      JobId job = named.in(operator);
      String asked = wait == null ? JobsDecideCommand.asked(operator, job) : wait;
      ApprovalLinks.Link link = operator.jobs().link(job, asked);
      if (output.json) {
        Shown.print(
            Shown.object()
                .put("url", link.url().toString())
                .put("expiresAt", link.expiresAt().toString()));
      } else {
        Terminal.println(link.url().toString());
      }
      return ExitCode.OK;
    }
  }
}
