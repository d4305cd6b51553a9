package dev.holdfast.app;

import dev.holdfast.app.cli.Logs;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.error.Failures;
import dev.holdfast.app.error.UsageErrors;
import dev.holdfast.process.EnvironmentBlock;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** {@code holdfast}: parses the command line, runs the command, ends with its exit code. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    // Before any program runs that could read it.
    EnvironmentBlock.hideSecrets();
    Logs.quiet();
    System.exit(run(arguments));
  }

  public static int run(String... arguments) {
    return commandLine(arguments).execute(arguments);
  }

  /** For these arguments; without any it has all commands. */
  public static CommandLine commandLine(String... arguments) {
    CommandLine line =
        arguments.length == 0 ? HoldfastCommand.withAll() : HoldfastCommand.withOnly(arguments[0]);
    return line.setCaseInsensitiveEnumValuesAllowed(true)
        .setUsageHelpAutoWidth(true)
        .setAbbreviatedOptionsAllowed(false)
        .setExpandAtFiles(false) // @FILE is a payload here, not more arguments
        .setExecutionStrategy(Main::execute)
        .setParameterExceptionHandler((wrong, args) -> UsageErrors.report(wrong))
        .setExecutionExceptionHandler((thrown, command, result) -> Failures.report(thrown));
  }

  private static int execute(ParseResult parsed) {
    ParseResult last = parsed;
    while (last.hasSubcommand()) {
      last = last.subcommand();
    }
    CommandSpec named = last.commandSpec();
    boolean runs = named.userObject() instanceof Callable || named.userObject() instanceof Runnable;
    if (runs || last.isUsageHelpRequested() || last.isVersionHelpRequested()) {
      return new CommandLine.RunLast().execute(parsed);
    }
    // The program alone prints the help; a group of commands alone is incomplete.
    if (named.parent() == null) {
      named.commandLine().usage(named.commandLine().getOut());
      return ExitCode.OK;
    }
    throw new ParameterException(
        named.commandLine(),
        "'%s' needs a command: %s"
            .formatted(named.qualifiedName(), String.join(", ", UsageErrors.commands(named))));
  }
}
