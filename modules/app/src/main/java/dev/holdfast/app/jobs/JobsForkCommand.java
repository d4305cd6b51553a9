package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.job.JobId;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Makes new jobs that go on from a step of another one. */
@Command(
    name = "fork",
    description = {
      "Make new jobs that go on from a step of a job.",
      "They have what was done before it. The job itself stays as it is,",
      "whatever its state.",
      "Exit code 6 when that cannot be copied."
    })
final class JobsForkCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(paramLabel = "ID", description = JobsCommand.ID)
  String id = "";

  @Option(
      names = "--from-step",
      required = true,
      paramLabel = "STEP",
      description = "the first step or wait that they do themselves")
  String step = "";

  @Option(
      names = "--payload",
      paramLabel = "JSON",
      description = "in place of that of the job: JSON, @FILE, or -")
  @Nullable String payload;

  @Option(
      names = "--times",
      paramLabel = "N",
      defaultValue = "1",
      description = "how many jobs, 1 to 100; default: ${DEFAULT-VALUE}")
  int times = 1;

  @Option(
      names = "--key",
      paramLabel = "TEXT",
      description = "a second fork with the same key makes no jobs")
  @Nullable String key;

  @Override
  public Integer call() {
    ShortId named = ShortId.of(id);
    JobFork fork =
        new JobFork(step, times, payload == null ? null : Input.json("--payload", payload), key);
    try (Operator operator = connection.open()) {
      JobOperator.Forked forked = operator.jobs().fork(named.in(operator), fork);
      if (output.json) {
        Shown.print(forked);
      } else {
        for (JobId each : forked.jobs()) {
          Terminal.println(each + (forked.duplicate() ? "  was made before, with this key" : ""));
        }
      }
      return ExitCode.OK;
    }
  }
}
