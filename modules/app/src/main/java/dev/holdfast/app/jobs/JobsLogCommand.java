package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.job.JobId;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What the programs of one job print. */
@Command(name = "log", description = "Show the last output of the programs of a job.")
final class JobsLogCommand implements Callable<Integer> {
  private static final Duration LOOK = Duration.ofSeconds(1);

  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(paramLabel = "ID", description = JobsCommand.ID)
  String id = "";

  @Option(
      names = {"-f", "--follow"},
      description = "continue with new output until the job has ended")
  boolean follow;

  private int attempt;

  @Override
  public Integer call() throws InterruptedException {
    ShortId named = ShortId.of(id);
    try (Operator operator = connection.open()) {
      JobId job = named.in(operator);
      // Read before the log: then the log has all output of a job that has ended.
      boolean ended = JobsCommand.existing(operator, job).state().isTerminal();
      LogTail tail = operator.jobs().log(job, LogCursor.START);
      print(tail);
      while (follow && !ended) {
        Thread.sleep(LOOK);
        ended = JobsCommand.existing(operator, job).state().isTerminal();
        tail = operator.jobs().log(job, tail.next());
        print(tail);
      }
      return ExitCode.OK;
    }
  }

  private void print(LogTail tail) {
    if (output.json) {
      if (!follow || !tail.parts().isEmpty()) {
        Shown.printLine(tail);
      }
      return;
    }
    if (tail.skipped()) {
      Terminal.println("… earlier output is not kept");
    }
    for (LogTail.Part part : tail.parts()) {
      if (part.attempt() != attempt && (attempt > 0 || part.attempt() > 1)) {
        Terminal.println("── attempt " + part.attempt());
      }
      attempt = part.attempt();
      Terminal.print(part.text());
    }
    Terminal.flush();
  }
}
