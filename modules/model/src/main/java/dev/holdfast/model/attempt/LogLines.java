package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.util.List;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Lines that a running attempt adds to its log.
 *
 * @param first the number of the first of these lines in the attempt, from 1; null when the sender
 *     does not count, and lines that are sent twice are stored twice
 * @param scrubber removes secrets: from the lines before and the new lines it makes the text that
 *     is stored of the new ones
 */
public record LogLines(
    Lease lease, @Nullable Long first, List<String> lines, BinaryOperator<String> scrubber) {
  public static final int MOST = 1_000;

  /** More of a line than is kept: half a secret at its end would not be known for one. */
  private static final int SCRUBBED_CHARS = 4 * Limits.LOG_LINE_CHARS;

  public LogLines {
    if (lines.isEmpty() || lines.size() > MOST || (first != null && first < 1)) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "a request must have 1 to %,d log lines, numbered from 1".formatted(MOST));
    }
    lines = List.copyOf(lines);
  }

  /** Those of them that are new, when so many of the attempt were taken before. */
  public List<String> after(long taken) {
    long known = first == null ? 0 : Math.clamp(taken - first + 1, 0, lines.size());
    return lines.subList((int) known, lines.size());
  }

  /** How many of the attempt are taken then. */
  public long linesAfter(long taken) {
    return first == null ? taken + lines.size() : Math.max(taken, first + lines.size() - 1);
  }

  /** What is kept of new lines. */
  public String scrubbed(String before, List<String> fresh) {
    StringBuilder added = new StringBuilder();
    for (String line : fresh) {
      added.append(line, 0, Math.min(line.length(), SCRUBBED_CHARS)).append('\n');
    }
    return scrubber.apply(before, added.toString());
  }
}
