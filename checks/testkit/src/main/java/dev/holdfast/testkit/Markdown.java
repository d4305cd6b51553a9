package dev.holdfast.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.Node;
import org.commonmark.parser.IncludeSourceSpans;
import org.commonmark.parser.Parser;

/** The documents of this checkout, and the fenced code blocks and comments in them. */
public final class Markdown {
  public static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();

  private static final Parser PARSER =
      Parser.builder().includeSourceSpans(IncludeSourceSpans.BLOCKS).build();

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

  private Markdown() {}

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
    List<Part> parts = new ArrayList<>();
    PARSER
        .parse(String.join("\n", lines))
        .accept(
            new AbstractVisitor() {
              @Override
              public void visit(HtmlBlock html) {
                if (html.getLiteral().startsWith("<!--")) {
                  parts.add(comment(file, html));
                }
              }

              @Override
              public void visit(FencedCodeBlock code) {
                parts.add(block(file, code, parts));
              }
            });
    return List.copyOf(parts);
  }

  private static Comment comment(Path file, HtmlBlock html) {
    String text = html.getLiteral().strip();
    if (!text.endsWith("-->")) {
      throw new AssertionError(place(file, html) + ": without an end");
    }
    List<String> lines =
        text.substring("<!--".length(), text.length() - "-->".length()).lines().toList();
    return new Comment(line(html), lines.getFirst().strip(), lines.subList(1, lines.size()));
  }

  private static Block block(Path file, FencedCodeBlock code, List<Part> before) {
    if (code.getClosingFenceLength() == null) {
      throw new AssertionError(place(file, code) + ": without an end");
    }
    String above =
        !before.isEmpty()
                && before.getLast() instanceof Comment comment
                && comment.more().isEmpty()
                && comment.line() == line(code) - 1
            ? comment.text()
            : "";
    String language = code.getInfo().split(" ", 2)[0];
    return new Block(file, line(code), language, above, code.getLiteral().lines().toList());
  }

  private static int line(Node node) {
    return node.getSourceSpans().getFirst().getLineIndex() + 1;
  }

  private static String place(Path file, Node node) {
    return file + ":" + line(node);
  }
}
