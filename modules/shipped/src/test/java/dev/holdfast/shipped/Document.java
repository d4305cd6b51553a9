package dev.holdfast.shipped;

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

  private static final String FENCE = "```";
  private static final String SETUP = "<!-- setup";
  private static final String NEEDS = "<!-- needs:";
  private static final String NOT_RUN = "<!-- not run:";
  private static final String RUN_BY = "<!-- run by:";
  private static final String END = "-->";

  static Document read(Path root, String name) throws IOException {
    return parse(name, Files.readAllLines(root.resolve(name)));
  }

  static Document parse(String name, List<String> lines) {
    return new Document(name, new Parser(lines).parse());
  }

  private static final class Parser {
    private final List<String> lines;
    private final List<Step> steps = new ArrayList<>();
    private int next;

    Parser(List<String> lines) {
      this.lines = lines;
    }

    List<Step> parse() {
      String needs = "";
      String reason = "";
      String test = "";
      while (next < lines.size()) {
        int number = next + 1;
        String line = lines.get(next++);
        if (line.startsWith(SETUP)) {
          commands(until(END), number + 1, true, needs);
        } else if (line.startsWith(NEEDS)) {
          needs = value(line, NEEDS);
        } else if (line.startsWith(RUN_BY)) {
          test = value(line, RUN_BY);
        } else if (line.startsWith(NOT_RUN)) {
          reason = value(line, NOT_RUN);
          if (reason.isEmpty()) {
            throw new IllegalArgumentException("line " + number + ": no reason");
          }
        } else if (line.strip().startsWith(FENCE)) {
          List<String> block = until(FENCE);
          if (line.strip().equals(FENCE + "console")) {
            if (!test.isEmpty()) {
              steps.add(new RunBy(number, test));
            } else if (reason.isEmpty()) {
              commands(block, number + 1, false, needs);
            } else {
              steps.add(new NotRun(number, reason));
            }
          }
          needs = "";
          reason = "";
          test = "";
        }
      }
      return List.copyOf(steps);
    }

    private static String value(String line, String comment) {
      return line.substring(comment.length(), line.lastIndexOf(END)).strip();
    }

    private List<String> until(String end) {
      int from = next;
      while (next < lines.size() && !lines.get(next).strip().startsWith(end)) {
        next++;
      }
      return lines.subList(from, next++);
    }

    private void commands(List<String> block, int firstLine, boolean hidden, String needs) {
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
