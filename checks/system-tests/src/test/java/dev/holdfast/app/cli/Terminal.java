package dev.holdfast.app.cli;

import dev.holdfast.app.Main;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Runs a command in this process with its own environment and captures its output. */
public final class Terminal {
  /** The exit code and the output of a command. */
  public record Answer(int code, List<String> out, List<String> err) {}

  private Terminal() {}

  public static Answer run(Map<String, String> environment, List<String> arguments) {
    String[] all = arguments.toArray(String[]::new);
    CommandLine line = Main.commandLine(all);
    give(line.getCommandSpec(), environment);
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    ByteArrayOutputStream complained = new ByteArrayOutputStream();
    PrintStream out = System.out;
    PrintStream err = System.err;
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
    try {
      Logs.quiet();
      int code = line.execute(all);
      return new Answer(code, lines(said), lines(complained));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  private static List<String> lines(ByteArrayOutputStream text) {
    return text.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private static void give(CommandSpec spec, Map<String, String> environment) {
    if (spec.userObject() instanceof CommonOptions common) {
      common.environment = environment;
    }
    spec.mixins().values().forEach(mixin -> give(mixin, environment));
    spec.subcommands().values().forEach(command -> give(command.getCommandSpec(), environment));
  }
}
