package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.util.ArrayList;
import java.util.List;
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
      "ID NAME, or NAME alone with --kind and --unique-key.",
      "Exit code 6 when the job has ended."
    })
final class JobsSignalCommand implements Callable<Integer> {
  private static final String USAGE =
      "which job, and which signal? ID NAME [JSON], or --kind K --unique-key U NAME [JSON]";

  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(
      arity = "1..3",
      paramLabel = "[ID] NAME [JSON]",
      hideParamSyntax = true,
      description = {
        JobsCommand.ID + ";",
        "the name of the signal; and what is sent",
        "with it: JSON, @FILE, or - for standard input"
      })
  List<String> words = new ArrayList<>();

  @Option(names = "--kind", paramLabel = "KIND", description = "of the job with the unique key")
  @Nullable String kind;

  @Option(
      names = "--unique-key",
      paramLabel = "KEY",
      description = "the job with this unique key, in place of an ID")
  @Nullable String uniqueKey;

  @Option(
      names = "--tenant",
      paramLabel = "NAME",
      description = "of the job with the unique key (default: default)")
  @Nullable String tenant;

  @Option(
      names = "--key",
      paramLabel = "TEXT",
      description = "a second signal with the same key is ignored")
  @Nullable String key;

  @Override
  public Integer call() {
    List<String> said = new ArrayList<>(words);
    String of = kind;
    String unique = uniqueKey;
    boolean byKey = of != null && unique != null;
    if (!byKey && (of != null || unique != null || tenant != null)) {
      throw new CommandException(ExitCode.USAGE, "--kind and --unique-key belong together");
    }
    ShortId named = byKey ? null : ShortId.of(said.removeFirst());
    if (said.isEmpty() || said.size() > 2) {
      throw new CommandException(ExitCode.USAGE, USAGE);
    }
    String name = said.getFirst();
    Json sent = said.size() == 1 ? Json.EMPTY : Input.json("JSON", said.getLast());
    try (Operator operator = connection.open()) {
      JobOperator.Told told;
      if (named != null) {
        JobId job = named.in(operator);
        told = new JobOperator.Told(job, operator.jobs().signal(job, name, sent, key));
      } else if (of != null && unique != null) {
        told = operator.jobs().signal(of, unique, tenant, name, sent, key);
      } else {
        throw new CommandException(ExitCode.USAGE, USAGE);
      }
      if (output.json) {
        Shown.print(told);
      } else {
        Terminal.println(
            told.id() + (told.duplicate() ? "  was told before, with this key" : "  told"));
      }
      return ExitCode.OK;
    }
  }
}
