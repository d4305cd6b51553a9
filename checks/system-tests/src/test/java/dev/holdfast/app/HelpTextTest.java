package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;

/** The help of every command, as a terminal of 80 columns shows it. */
class HelpTextTest {
  static Stream<CommandSpec> commands() {
    return all(Main.commandLine()).filter(spec -> !spec.name().equals("help"));
  }

  private static Stream<CommandSpec> all(CommandLine root) {
    return Stream.concat(
        Stream.of(root.getCommandSpec()),
        root.getSubcommands().values().stream().flatMap(HelpTextTest::all));
  }

  /** All but the synopsis, which may be wrapped between options. */
  private static List<String> lines(CommandSpec command, int columns) {
    command.usageMessage().autoWidth(false).width(columns);
    Help help = new Help(command, Help.defaultColorScheme(Help.Ansi.OFF));
    return String.join(
            "\n",
            help.description(),
            help.parameterList(),
            help.optionList(),
            help.commandList(),
            help.footer())
        .lines()
        .map(String::stripTrailing)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void no_phrase_is_broken_at_80_columns(CommandSpec command) {
    assertThat(lines(command, 80))
        .as(command.qualifiedName())
        .filteredOn(line -> !isPartOfAListOfNames(line))
        .isEqualTo(
            lines(command, 200).stream().filter(line -> !isPartOfAListOfNames(line)).toList());
  }

  /** The names of states and actions do not fit on one line. */
  private static boolean isPartOfAListOfNames(String line) {
    return line.matches(".*\\b([A-Z]{3,}|[a-z]+_[a-z_]+)(,.*|$)");
  }

  @Test
  void every_command_has_a_description() {
    assertThat(commands())
        .allSatisfy(command -> assertThat(command.usageMessage().description()).isNotEmpty());
  }
}
