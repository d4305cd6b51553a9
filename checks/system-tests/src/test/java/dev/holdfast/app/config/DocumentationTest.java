package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.Main;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The pages say what the code does: names and numbers that can be checked. */
class DocumentationTest {
  private static final Path ROOT = AssembledProgram.checkout();

  private static final Pattern VARIABLE = Pattern.compile("\\bHOLDFAST_[A-Z_]*[A-Z]\\b(?!_)");

  private static final String COMMANDS =
      """
      # Commands

      What `holdfast help COMMAND` prints, for every command. This page is generated from the program. [The command line](cli.md)
      explains the commands and shows them at work.
      """;

  private static String page(String name) throws IOException {
    return Files.readString(ROOT.resolve(name));
  }

  static Stream<Concern<?>> concerns() {
    return Settings.CONCERNS.stream();
  }

  /** A failure shows the table as it should be. */
  @ParameterizedTest
  @MethodSource("concerns")
  void the_settings_of_a_concern_are_documented(Concern<?> concern) throws IOException {
    StringBuilder table =
        new StringBuilder("## " + concern.name() + "\n\n")
            .append("| key | variable | default | value | meaning |\n|---|---|---|---|---|\n");
    concern.settings().forEach(setting -> table.append(row(setting)));
    assertThat(page("docs/settings.md")).contains(table);
  }

  private static String row(Setting setting) {
    String unit = setting.unit() == null ? "" : " (" + setting.unit() + ")";
    return "| `%s` | `%s`%s | %s | %s | %s |\n"
        .formatted(
            setting.key(),
            setting.variable(),
            unit,
            setting.defaultText().isEmpty() ? "" : "`" + setting.defaultText() + "`",
            setting.expected().replaceAll(", such as.*|,$", ""),
            setting.description());
  }

  @Test
  void every_holdfast_variable_named_on_a_page_exists() throws IOException {
    Set<String> known = Settings.all().map(Setting::variable).collect(Collectors.toSet());
    known.addAll(KnownSettings.NO_SETTINGS);
    List<String> unknown = new ArrayList<>();
    for (Path page : pages()) {
      Matcher variable = VARIABLE.matcher(Files.readString(page));
      while (variable.find()) {
        if (!known.contains(variable.group())) {
          unknown.add(ROOT.relativize(page) + ": " + variable.group());
        }
      }
    }
    assertThat(unknown).isEmpty();
  }

  @Test
  void every_exit_code_is_documented() throws IOException, IllegalAccessException {
    String page = page("docs/cli.md");
    for (Field code : ExitCode.class.getDeclaredFields()) {
      if (code.getType() == int.class) {
        String row = "| " + number(code);
        assertThat(page.lines()).as(code.getName()).anyMatch(line -> line.startsWith(row));
      }
    }
  }

  @Test
  void every_exit_of_a_worker_is_documented() throws IOException {
    String page = page("docs/operations.md");
    for (int code = 0; code < 256; code++) {
      String name = WorkerExit.of(code).name();
      if (!name.startsWith("exit ") && !name.startsWith("signal ")) {
        assertThat(page).contains("| %d | %s |".formatted(code, name));
      }
    }
  }

  @Test
  void every_code_of_the_diagnosis_is_documented() throws IOException {
    String page = page("docs/operations.md");
    assertThat(ProblemCode.values())
        .allSatisfy(code -> assertThat(page).contains("| `" + code.text() + "` |"));
  }

  private static int number(Field code) throws IllegalAccessException {
    code.setAccessible(true);
    return code.getInt(null);
  }

  @Test
  void every_command_and_option_is_documented() throws IOException {
    String page = page("docs/cli.md");
    List<String> missing = new ArrayList<>();
    commands(Main.commandLine())
        .filter(spec -> !spec.usageMessage().hidden())
        .forEach(
            spec -> {
              if (!page.contains(spec.name())) {
                missing.add(spec.qualifiedName());
              }
              for (OptionSpec option : spec.options()) {
                if (!option.hidden() && !page.contains(option.longestName())) {
                  missing.add(spec.qualifiedName() + " " + option.longestName());
                }
              }
            });
    assertThat(missing).isEmpty();
  }

  /**
   * As {@code holdfast help} prints them. To write the page anew: {@code -Dholdfast.write=true},
   * with this test.
   */
  @Test
  void the_page_of_commands_has_the_help_of_each() throws IOException {
    StringBuilder page = new StringBuilder(COMMANDS);
    commands(Main.commandLine())
        .filter(spec -> !spec.usageMessage().hidden() && !spec.name().equals("help"))
        .forEach(
            spec ->
                page.append("\n## ")
                    .append(spec.qualifiedName())
                    .append("\n\n```text\n")
                    .append(help(spec))
                    .append("\n```\n"));
    if (Boolean.getBoolean("holdfast.write")) {
      Files.writeString(ROOT.resolve("docs/commands.md"), page);
    }
    assertThat(page("docs/commands.md")).isEqualTo(page.toString());
  }

  private static String help(CommandSpec spec) {
    return spec.commandLine()
        .getUsageMessage(CommandLine.Help.Ansi.OFF)
        .lines()
        .map(String::stripTrailing)
        .collect(Collectors.joining("\n"))
        .strip();
  }

  private static Stream<CommandSpec> commands(CommandLine root) {
    return Stream.concat(
        Stream.of(root.getCommandSpec()),
        root.getSubcommands().values().stream().flatMap(DocumentationTest::commands));
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> below = Files.walk(ROOT.resolve("docs"))) {
      return Stream.concat(top, below).filter(page -> page.toString().endsWith(".md")).toList();
    }
  }

  @Test
  void a_command_built_alone_has_the_same_usage_text() {
    Map<String, CommandLine> all = Main.commandLine().getSubcommands();
    assertThat(all).hasSizeGreaterThan(10);
    all.forEach(
        (name, among) -> {
          Map<String, CommandLine> found = Main.commandLine(name).getSubcommands();
          assertThat(found).hasSize(name.equals("help") ? all.size() : 1).containsKey(name);
          assertThat(found)
              .hasEntrySatisfying(
                  name,
                  alone -> assertThat(alone.getUsageMessage()).isEqualTo(among.getUsageMessage()));
        });
  }
}
