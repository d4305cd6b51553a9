package dev.holdfast.contract.task;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.model.attempt.LogLines;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lines for the log of a task.
 *
 * @param firstLine which line of the attempt the first of them is, counted from 1; where it is
 *     given, lines that were taken before are passed over
 */
public record TaskLog(
    int attempt, @Nullable String attemptId, @Nullable Long firstLine, List<String> lines) {
  private static final long LAST_LINE = 1_000_000_000_000L;

  public TaskLog {
    Fields.attempt(attempt);
    if (firstLine != null && (firstLine < 1 || firstLine > LAST_LINE)) {
      throw Fields.wrong("firstLine", "is counted from 1");
    }
    lines = Fields.list("lines", lines, LogLines.MOST);
    lines.forEach(line -> Fields.wellFormed("lines", line));
  }

  /** What it is answered. */
  public record Answer(boolean acknowledged, Instant serverTime) {}
}
