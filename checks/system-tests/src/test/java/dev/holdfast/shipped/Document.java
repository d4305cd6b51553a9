package dev.holdfast.shipped;

import dev.holdfast.testkit.Markdown;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The commands of a Markdown document and what each is said to print.
 *
 * <p>In a {@code console} block, a line that begins with {@code $ } is a command, which goes on in
 * the next line after a backslash; what follows is what it prints. Four comments before a block are
 * read, too:
 *
 * <ul>
 *   <li>{@code <!-- setup} and lines of shell up to {@code -->}: run in the same session. What is
 *       shown needs it, and a reader has it already: a failed job, a file, a variable. What the
 *       command before printed is in the file {@code $OUTPUT}.
 *   <li>{@code <!-- needs: psql -->}: the next block is left out where there is no such program.
 *   <li>{@code <!-- run by: SomeTest -->}: the next block is run by another test, not here.
 *   <li>{@code <!-- not run: reason -->}: the next block is not run at all.
 * </ul>
 */
record Document(String name, List<Step> steps) {
  /** Something to run, or why something is not run. */
  sealed interface Step {
    int line();
  }

  record Command(int line, String text, List<String> expected, boolean hidden, String needs)
      implements Step {}

  record NotRun(int line, String reason) implements Step {}

  record RunBy(int line, String test) implements Step {}

  private static final String SETUP = "setup";
  private static final String NEEDS = "needs:";
  private static final String NOT_RUN = "not run:";
  private static final String RUN_BY = "run by:";

  static Document read(Path root, String name) throws IOException {
    return parse(name, Files.readAllLines(root.resolve(name)));
  }

  static Document parse(String name, List<String> lines) {
    return new Document(name, new Parser().parse(Markdown.parts(Path.of(name), lines)));
  }

  private static final class Parser {
    private final List<Step> steps = new ArrayList<>();
    private String needs = "";
    private String reason = "";
    private String test = "";

    List<Step> parse(List<Markdown.Part> parts) {
      for (Markdown.Part part : parts) {
        switch (part) {
          case Markdown.Comment comment -> comment(comment);
          case Markdown.Block block -> {
            if (block.language().equals("console")) {
              console(block);
            }
            needs = "";
            reason = "";
            test = "";
          }
        }
      }
      return List.copyOf(steps);
    }

    private void comment(Markdown.Comment comment) {
      String text = comment.text();
      if (text.equals(SETUP)) {
        commands(comment.more(), comment.line() + 1, true);
      } else if (text.startsWith(NEEDS)) {
        needs = text.substring(NEEDS.length()).strip();
      } else if (text.startsWith(RUN_BY)) {
        test = text.substring(RUN_BY.length()).strip();
      } else if (text.startsWith(NOT_RUN)) {
        reason = text.substring(NOT_RUN.length()).strip();
        if (reason.isEmpty()) {
          throw new IllegalArgumentException("line " + comment.line() + ": no reason");
        }
      }
    }

    private void console(Markdown.Block block) {
      if (!test.isEmpty()) {
        steps.add(new RunBy(block.line(), test));
      } else if (reason.isEmpty()) {
        commands(block.lines(), block.line() + 1, false);
      } else {
        steps.add(new NotRun(block.line(), reason));
      }
    }

    private void commands(List<String> block, int firstLine, boolean hidden) {
      int at = 0;
      while (at < block.size()) {
        int line = firstLine + at;
        String first = block.get(at++);
        if (!hidden && !first.startsWith("$ ")) {
          throw new IllegalArgumentException("line " + line + " is printed by no command");
        }
        StringBuilder text = new StringBuilder(hidden ? first : first.substring(2));
        while (text.toString().endsWith("\\") && at < block.size()) {
          text.append('\n').append(block.get(at++));
        }
        List<String> expected = new ArrayList<>();
        while (!hidden && at < block.size() && !block.get(at).startsWith("$ ")) {
          expected.add(block.get(at++));
        }
        steps.add(new Command(line, text.toString(), joined(expected), hidden, needs));
      }
    }

    /** Long JSON is broken into several lines for the reader; it is printed as one. */
    private static List<String> joined(List<String> expected) {
      List<String> all = new ArrayList<>();
      for (String line : expected) {
        boolean more = line.startsWith("  ") && !all.isEmpty() && all.getLast().startsWith("{\"");
        if (more) {
          all.add(all.removeLast() + line.strip());
        } else {
          all.add(line);
        }
      }
      return List.copyOf(all);
    }
  }
}
