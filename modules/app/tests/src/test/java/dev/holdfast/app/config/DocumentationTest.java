package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.Main;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The pages say what the code does: names, numbers and links that can be checked. */
class DocumentationTest {
  private static final Path ROOT = AssembledProgram.checkout();
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:\\s]+)(#[^)]*)?\\)");

  /** The first thing said of a finding, on a line of its own. */
  private static final Pattern CODE =
      Pattern.compile("^ +\"([a-z]+_[a-z_]+)\",$", Pattern.MULTILINE);

  private static String page(String name) throws IOException {
    return Files.readString(ROOT.resolve(name));
  }

  @Test
  void every_setting_is_documented_with_its_variable_and_default() throws IOException {
    String page = page("docs/cli.md");
    for (Setting setting : Setting.values()) {
      assertThat(page.lines())
          .as(setting.key())
          .anyMatch(
              line ->
                  line.contains("`" + setting.key() + "`")
                      && line.contains("`" + setting.variable() + "`")
                      && line.contains(setting.fallback()));
    }
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
  void whatever_can_be_found_is_documented() throws IOException {
    String rules = page("modules/model/src/main/java/dev/holdfast/model/ops/Diagnosis.java");
    String page = page("docs/operations.md");
    List<String> codes = CODE.matcher(rules).results().map(found -> found.group(1)).toList();
    assertThat(codes).hasSizeGreaterThan(10);
    assertThat(codes).allSatisfy(code -> assertThat(page).contains("| `" + code + "` |"));
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

  private static Stream<CommandSpec> commands(CommandLine root) {
    return Stream.concat(
        Stream.of(root.getCommandSpec()),
        root.getSubcommands().values().stream().flatMap(DocumentationTest::commands));
  }

  @Test
  void links_between_the_pages_lead_somewhere() throws IOException {
    List<String> broken = new ArrayList<>();
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> below = Files.walk(ROOT.resolve("docs"))) {
      for (Path page :
          Stream.concat(top, below).filter(p -> p.toString().endsWith(".md")).toList()) {
        Matcher link = LINK.matcher(Files.readString(page));
        while (link.find()) {
          if (!Files.exists(page.resolveSibling(link.group(1)))) {
            broken.add(ROOT.relativize(page) + " -> " + link.group(1));
          }
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  @Test
  void a_command_is_the_same_alone_as_among_all() {
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
