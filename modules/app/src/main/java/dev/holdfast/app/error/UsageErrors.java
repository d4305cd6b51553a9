package dev.holdfast.app.error;

import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.model.value.Spelling;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** A command line with something in it that does not exist: says what, and what may be meant. */
public final class UsageErrors {
  private UsageErrors() {}

  public static int report(ParameterException wrong) {
    CommandSpec command = wrong.getCommandLine().getCommandSpec();
    Terminal.error("holdfast: " + Terminal.oneLine(message(command, wrong)));
    Terminal.error("Try '" + command.qualifiedName() + " --help'.");
    return ExitCode.USAGE;
  }

  private static String message(CommandSpec command, ParameterException wrong) {
    if (wrong instanceof UnmatchedArgumentException unmatched) {
      String word = unmatched.getUnmatched().getFirst();
      if (unmatched.isUnknownOption()) {
        return unknownOption(command, word.replaceFirst("=.*", ""));
      }
      return commands(command).isEmpty()
          ? "'%s' is one argument too many: quote an argument that has spaces in it".formatted(word)
          : unknownCommand(command, word);
    }
    // 'help' looks up the name of a command itself.
    if (wrong.getArgSpec() == null && wrong.getValue() != null) {
      return unknownCommand(command, wrong.getValue());
    }
    return String.valueOf(wrong.getMessage());
  }

  private static String unknownOption(CommandSpec command, String word) {
    List<String> names =
        command.options().stream()
            .filter(option -> !option.hidden())
            .flatMap(option -> Arrays.stream(option.names()))
            .filter(name -> name.startsWith("--"))
            .toList();
    return "unknown option '%s'%s"
        .formatted(
            word,
            Spelling.nearest(word, names).map(near -> ": did you mean '" + near + "'?").orElse(""));
  }

  private static String unknownCommand(CommandSpec command, String word) {
    List<String> known = commands(command);
    return "unknown command '%s': %s"
        .formatted(
            command.parent() == null ? word : command.name() + " " + word,
            Spelling.nearest(word, known)
                .map(near -> "did you mean '" + near + "'?")
                .orElse("there are " + String.join(", ", known)));
  }

  /** The names of its subcommands, as its help shows them. */
  public static List<String> commands(CommandSpec command) {
    return List.copyOf(command.subcommands().keySet());
  }
}
