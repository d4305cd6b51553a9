package dev.holdfast.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The documents of this checkout, and the fenced code blocks and comments in them. */
public final class Markdown {
  public static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();

  private static final Pattern FENCE = Pattern.compile("^( *)(`{3,})\\s*(\\S*).*$");
  private static final Pattern COMMENT = Pattern.compile("^\\s*<!--\\s*(.*?)\\s*(-->)?\\s*$");
  private static final String COMMENT_END = "-->";

  /** A block or a comment. */
  public sealed interface Part {
    /** Where it begins, from 1. */
    int line();
  }

  /**
   * @param text what its first line says
   * @param more its other lines, if it has any
   */
  public record Comment(int line, String text, List<String> more) implements Part {}

  /**
   * @param file relative to the root
   * @param language empty if none is given
   * @param comment what the HTML comment on the line above says; empty if there is none
   * @param lines without the indentation of the fence
   */
  public record Block(Path file, int line, String language, String comment, List<String> lines)
      implements Part {
    public String text() {
      return String.join("\n", lines);
    }

    public String place() {
      return file + ":" + line;
    }
  }

  private final Path file;
  private final List<String> lines;
  private final List<Part> parts = new ArrayList<>();
  private int next;

  private Markdown(Path file, List<String> lines) {
    this.file = file;
    this.lines = lines;
  }

  /** README.md, CONTRIBUTING.md, docs and the READMEs of examples and sdk, relative to the root. */
  public static List<Path> files() throws IOException {
    try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
        Stream<Path> examples = Files.list(ROOT.resolve("examples"));
        Stream<Path> libraries = Files.list(ROOT.resolve("sdk"))) {
      return Stream.of(
              Stream.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")),
              docs.filter(each -> each.toString().endsWith(".md")),
              Stream.concat(examples, libraries)
                  .map(folder -> folder.resolve("README.md"))
                  .filter(Files::exists))
          .flatMap(paths -> paths)
          .map(ROOT::relativize)
          .sorted()
          .toList();
    }
  }

  public static List<Block> blocks(Path file) throws IOException {
    return blocks(file, Files.readAllLines(ROOT.resolve(file)));
  }

  public static List<Block> blocks(Path file, List<String> lines) {
    return parts(file, lines).stream()
        .filter(Block.class::isInstance)
        .map(Block.class::cast)
        .toList();
  }

  /** All of them, in their order. */
  public static List<Part> parts(Path file, List<String> lines) {
    Markdown document = new Markdown(file, lines);
    document.read();
    return List.copyOf(document.parts);
  }

  private void read() {
    while (next < lines.size()) {
      String line = lines.get(next++);
      Matcher fence = FENCE.matcher(line);
      Matcher comment = COMMENT.matcher(line);
      if (fence.matches()) {
        block(fence);
      } else if (comment.matches()) {
        comment(comment);
      }
    }
  }

  private void block(Matcher fence) {
    int number = next;
    String indentation = fence.group(1);
    List<String> content =
        until(fence.group(2), number).stream()
            .map(
                line ->
                    line.startsWith(indentation)
                        ? line.substring(indentation.length())
                        : line.strip())
            .toList();
    Matcher above = COMMENT.matcher(number == 1 ? "" : lines.get(number - 2));
    boolean explained = above.matches() && above.group(2) != null;
    parts.add(new Block(file, number, fence.group(3), explained ? above.group(1) : "", content));
  }

  private void comment(Matcher first) {
    int number = next;
    boolean whole = first.group(2) != null;
    parts.add(new Comment(number, first.group(1), whole ? List.of() : until(COMMENT_END, number)));
  }

  private List<String> until(String end, int begin) {
    List<String> content = new ArrayList<>();
    while (next < lines.size() && !lines.get(next).strip().equals(end)) {
      content.add(lines.get(next++));
    }
    if (next == lines.size()) {
      throw new AssertionError(file + ":" + begin + ": without an end");
    }
    next++;
    return List.copyOf(content);
  }
}
