package dev.holdfast.scenarios;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The documents of this checkout, and the fenced code blocks in them. */
final class Markdown {
  static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();

  private static final Pattern FENCE = Pattern.compile("^( *)(`{3,})\\s*(\\S*).*$");
  private static final Pattern COMMENT = Pattern.compile("^\\s*<!--\\s*(.*?)\\s*-->\\s*$");

  /**
   * @param file relative to the root
   * @param line where the fence is, from 1
   * @param language empty if none is given
   * @param comment what the HTML comment on the line above says; empty if there is none
   * @param lines without the indentation of the fence
   */
  record Block(Path file, int line, String language, String comment, List<String> lines) {
    String text() {
      return String.join("\n", lines);
    }

    String place() {
      return file + ":" + line;
    }
  }

  private Markdown() {}

  /** README.md, CONTRIBUTING.md, docs and the READMEs of the examples, relative to the root. */
  static List<Path> files() throws IOException {
    try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
        Stream<Path> examples = Files.list(ROOT.resolve("examples"))) {
      return Stream.of(
              Stream.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")),
              docs.filter(file -> file.toString().endsWith(".md")),
              examples.map(folder -> folder.resolve("README.md")).filter(Files::exists))
          .flatMap(paths -> paths)
          .map(ROOT::relativize)
          .sorted()
          .toList();
    }
  }

  static List<Block> blocks(Path file) throws IOException {
    return blocks(file, Files.readAllLines(ROOT.resolve(file)));
  }

  static List<Block> blocks(Path file, List<String> lines) {
    List<Block> blocks = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      Matcher fence = FENCE.matcher(lines.get(i));
      if (!fence.matches()) {
        continue;
      }
      int begin = i;
      String indentation = fence.group(1);
      List<String> content = new ArrayList<>();
      for (i++; i < lines.size() && !lines.get(i).strip().equals(fence.group(2)); i++) {
        String line = lines.get(i);
        content.add(
            line.startsWith(indentation) ? line.substring(indentation.length()) : line.strip());
      }
      if (i == lines.size()) {
        throw new AssertionError(file + ":" + (begin + 1) + ": a code block without an end");
      }
      Matcher comment = COMMENT.matcher(begin == 0 ? "" : lines.get(begin - 1));
      blocks.add(
          new Block(
              file,
              begin + 1,
              fence.group(3),
              comment.matches() ? comment.group(1) : "",
              List.copyOf(content)));
    }
    return blocks;
  }
}
