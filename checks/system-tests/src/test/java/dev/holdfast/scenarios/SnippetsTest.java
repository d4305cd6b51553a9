package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Markdown;
import dev.holdfast.testkit.OnlyWithAll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * The code in the documents is code that tests run. The line above a block says where it stands:
 * {@code <!-- snippet: path/from/root/File.java#region -->}, or without {@code #region} for a whole
 * file.
 */
@OnlyWithAll
class SnippetsTest {
  private static final Set<String> CODE =
      Set.of("java", "xml", "yaml", "python", "ts", "go", "sh", "sql", "json", "http");

  private static final Set<String> NO_CODE = Set.of("", "text", "mermaid");

  private static final String CONSOLE = "console";
  private static final String SNIPPET = "snippet: ";

  private static List<Markdown.Block> blocks() throws IOException {
    List<Markdown.Block> blocks = new ArrayList<>();
    for (Path file : Markdown.files()) {
      blocks.addAll(Markdown.blocks(file));
    }
    assertThat(blocks).hasSizeGreaterThan(50);
    return blocks;
  }

  private static Optional<String> source(Markdown.Block block) {
    return block.comment().startsWith(SNIPPET)
        ? Optional.of(block.comment().substring(SNIPPET.length()))
        : Optional.empty();
  }

  @Test
  void every_block_equals_its_region_in_the_source() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Markdown.Block block : blocks()) {
      Optional<String> source = source(block);
      if (source.isPresent()) {
        List<String> code = code(source.get());
        if (!Regions.withoutCommonIndentation(block.lines()).equals(code)) {
          wrong.add(
              "%s is not %s, which is:%n%s"
                  .formatted(block.place(), source.get(), String.join("\n", code)));
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static List<String> code(String source) throws IOException {
    String[] parts = source.split("#", 2);
    Path file = Path.of(parts[0]);
    if (!Files.isRegularFile(Markdown.ROOT.resolve(file))) {
      return List.of("(there is no such file)");
    }
    List<String> lines = Files.readAllLines(Markdown.ROOT.resolve(file));
    return parts.length == 1
        ? lines
        : Regions.in(file, lines).getOrDefault(parts[1], List.of("(there is no such region)"));
  }

  @Test
  void every_block_of_code_names_its_source() throws IOException {
    assertThat(blocks())
        .filteredOn(block -> CODE.contains(block.language()))
        .filteredOn(block -> source(block).isEmpty())
        .extracting(Markdown.Block::place)
        .as("code without a snippet comment above it")
        .isEmpty();
  }

  @Test
  void every_block_is_code_a_console_or_neither() throws IOException {
    assertThat(blocks())
        .filteredOn(block -> !CODE.contains(block.language()))
        .filteredOn(block -> !NO_CODE.contains(block.language()))
        .filteredOn(block -> !block.language().equals(CONSOLE))
        .extracting(block -> block.place() + " " + block.language())
        .as("blocks in a language that no test reads")
        .isEmpty();
  }

  /** There they are run, unless a comment says why not. */
  @Test
  void commands_are_only_in_console_blocks() throws IOException {
    assertThat(blocks())
        .filteredOn(block -> !block.language().equals(CONSOLE))
        .filteredOn(block -> block.lines().stream().anyMatch(line -> line.startsWith("$ ")))
        .extracting(Markdown.Block::place)
        .isEmpty();
  }

  @Test
  void every_region_is_shown_somewhere() throws IOException {
    Set<String> regions = new TreeSet<>(Regions.everywhere());
    for (Markdown.Block block : blocks()) {
      source(block).ifPresent(regions::remove);
    }
    assertThat(regions).as("regions that no document shows").isEmpty();
  }

  @Test
  void a_region_is_the_text_between_its_marks_without_common_indentation() {
    List<String> lines =
        """
        class X {
            @ region one
            a {

              b
            }

            @ endregion
            between
            @ region one
            c
            @ region inner
              d
            @ endregion

            @ endregion
          @ region two
          # a region is not begun by this
          @ endregion
        }
        """
            .replace("@", "//") // so that these are not found as regions of this file
            .lines()
            .toList();
    assertThat(Regions.in(Path.of("X"), lines))
        .containsEntry("one", List.of("a {", "", "  b", "}", "", "c", "  d"))
        .containsEntry("inner", List.of("d"))
        .containsEntry("two", List.of("# a region is not begun by this"))
        .hasSize(3);
  }

  @Test
  void a_block_has_its_language_its_line_and_the_comment_above_it() {
    List<Markdown.Block> blocks =
        Markdown.blocks(
            Path.of("X.md"),
            """
            <!-- snippet: a/B.java#c -->
            ```java
            one

              two
            ```
            - list
              ```
              three
              ```
            """
                .lines()
                .toList());
    assertThat(blocks)
        .containsExactly(
            new Markdown.Block(
                Path.of("X.md"), 2, "java", "snippet: a/B.java#c", List.of("one", "", "  two")),
            new Markdown.Block(Path.of("X.md"), 8, "", "", List.of("three")));
  }
}
