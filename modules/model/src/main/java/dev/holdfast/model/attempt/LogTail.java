package dev.holdfast.model.attempt;

import java.util.ArrayList;
import java.util.List;

/**
 * The part of a job's log that a reader has not read yet.
 *
 * @param parts in their order, one for each attempt
 * @param next the cursor to continue from
 * @param skipped whether earlier output was not kept
 */
public record LogTail(List<Part> parts, LogCursor next, boolean skipped) {
  /** Of one attempt, in whole lines. */
  public record Part(int attempt, String text) {}

  public LogTail {
    parts = List.copyOf(parts);
  }

  /**
   * @param pieces from the cursor's on, as far as they are kept
   */
  public static LogTail after(LogCursor cursor, List<LogPiece> pieces) {
    List<Part> parts = new ArrayList<>();
    LogCursor next = cursor;
    for (LogPiece piece : pieces) {
      boolean begun = isIn(piece, cursor);
      int from = begun ? Math.min(cursor.chars(), piece.text().length()) : 0;
      String text = piece.text().substring(from);
      next = new LogCursor(piece.attempt(), piece.piece(), piece.text().length());
      if (!text.isEmpty()) {
        add(parts, new Part(piece.attempt(), text));
      }
    }
    return new LogTail(parts, next, !pieces.isEmpty() && isBefore(cursor, pieces.getFirst()));
  }

  private static boolean isIn(LogPiece piece, LogCursor cursor) {
    return piece.attempt() == cursor.attempt() && piece.piece() == cursor.piece();
  }

  /** Whether there were pieces between them. */
  private static boolean isBefore(LogCursor cursor, LogPiece first) {
    boolean isVeryFirst = cursor.equals(LogCursor.START) && first.piece() == 1;
    return !isIn(first, cursor) && !isVeryFirst;
  }

  private static void add(List<Part> parts, Part part) {
    boolean goesOn = !parts.isEmpty() && parts.getLast().attempt() == part.attempt();
    parts.add(goesOn ? new Part(part.attempt(), parts.removeLast().text() + part.text()) : part);
  }
}
