package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Tells a job something. */
@Command(
    name = "signal",
    description = {
      "Send a signal to a job whose handler waits for it, or will wait.",
      "Exit code 6 when the job has ended."
    })
final class JobsSignalCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(index = "0", paramLabel = "ID", description = JobsCommand.ID)
  String id = "";

  @Parameters(index = "1", paramLabel = "NAME", description = "the name of the signal")
  String name = "";

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "JSON",
      description = "sent with it: JSON, @FILE, or - for standard input")
  @Nullable String payload;

  @Option(
      names = "--key",
      paramLabel = "TEXT",
      description = "a second signal with the same key is ignored")
  @Nullable String key;

  @Override
  public Integer call() {
    ShortId named = ShortId.of(id);
    Json sent = payload == null ? Json.EMPTY : Input.json("JSON", payload);
    try (Operator operator = connection.open()) {
      JobId job = named.in(operator);
      boolean duplicate = operator.jobs().signal(job, name, sent, key);
      if (output.json) {
        Shown.print(Shown.object().put("id", job.toString()).put("duplicate", duplicate));
      } else {
        Terminal.println(job + (duplicate ? "  was told before, with this key" : "  told"));
      }
      return ExitCode.OK;
    }
  }
}
