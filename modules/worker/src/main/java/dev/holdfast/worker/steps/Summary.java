package dev.holdfast.worker.steps;

import dev.holdfast.model.value.Text;
import java.util.List;

/**
 * The summary of a failed attempt: its message, and the last lines that were printed, for a
 * program's very last one seldom says what was wrong. Made of scrubbed text.
 */
final class Summary {
  static final int MOST_MESSAGE = 1_000;
  private static final int MOST_LINES = 20;
  private static final int MOST_LINE = 200;
  private static final int MOST = 2_000;
  private static final String HEADING = "\nIt had printed:";

  private Summary() {}

  static String of(String message, String lastLines) {
    String kept = Text.excerpt(message, MOST_MESSAGE);
    List<String> lines = lastLines.lines().filter(line -> !line.isBlank()).toList();
    StringBuilder tail = new StringBuilder();
    int left = MOST - kept.length() - HEADING.length();
    int first = Math.max(0, lines.size() - MOST_LINES);
    for (String line : lines.subList(first, lines.size()).reversed()) {
      String shown = Text.excerpt(line.stripTrailing(), MOST_LINE);
      left -= shown.length() + 1;
      if (left < 0) {
        break;
      }
      tail.insert(0, "\n" + shown);
    }
    // A single line that is in the message already is not repeated.
    boolean said = lines.size() == 1 && message.endsWith(lines.getFirst());
    return tail.isEmpty() || said ? kept : kept + HEADING + tail;
  }
}
