package dev.holdfast.app;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shell completion. */
@Command(
    name = "completion",
    description = {
      "Print a completion script for bash and zsh.",
      "Use it with: source <(holdfast completion)"
    })
final class CompletionCommand implements Callable<Integer> {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "show this help")
  boolean help;

  @Override
  public Integer call() {
    Terminal.println(AutoComplete.bash("holdfast", Main.commandLine()));
    // The launcher of a checkout is called by its path.
    Terminal.println("complete -F _complete_holdfast -o default ./holdfast");
    return ExitCode.OK;
  }
}
