package dev.holdfast.app;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** {@code holdfast}: parses the command line, runs the command, ends with its exit code. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    Logs.quiet();
    System.exit(run(arguments));
  }

  static int run(String... arguments) {
    return commandLine(arguments).execute(arguments);
  }

  /** For these arguments; without any it has all commands. */
  static CommandLine commandLine(String... arguments) {
    CommandLine line =
        arguments.length == 0 ? HoldfastCommand.withAll() : HoldfastCommand.withOnly(arguments[0]);
    return line.setCaseInsensitiveEnumValuesAllowed(true)
        .setUsageHelpAutoWidth(true)
        .setAbbreviatedOptionsAllowed(false)
        .setExpandAtFiles(false) // @FILE is a payload here, not more arguments
        .setParameterExceptionHandler((wrong, args) -> misunderstood(wrong))
        .setExecutionExceptionHandler((thrown, command, result) -> Failures.report(thrown));
  }

  private static int misunderstood(ParameterException wrong) {
    System.err.println("holdfast: " + Failures.oneLine(String.valueOf(wrong.getMessage())));
    if (wrong instanceof UnmatchedArgumentException unmatched) {
      List<String> suggestions = unmatched.getSuggestions();
      if (!suggestions.isEmpty()) {
        System.err.println("Did you mean: " + String.join(", ", suggestions) + "?");
      }
    }
    System.err.println(
        "Try '" + wrong.getCommandLine().getCommandSpec().qualifiedName() + " --help'.");
    return ExitCode.USAGE;
  }
}
