package dev.holdfast.supervisor;

import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.health.WorkerLogs;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.BinaryOperator;

/**
 * The last lines of one worker, kept in the database so that any server can show them. Lines are
 * added by the threads that read them, and written by the thread of the supervisor.
 */
final class WorkerLogTail {
  private static final int MOST_CHARS = Limits.LOG_PIECE_CHARS * Limits.LOG_PIECES;

  private final WorkerLogs logs;
  private final WorkerLogs.Name worker;
  private final BinaryOperator<String> scrub;
  private final Deque<String> waiting = new ArrayDeque<>();
  private int waitingChars;
  private LogPiece last = new LogPiece(0, 1, "");

  WorkerLogTail(WorkerLogs logs, WorkerLogs.Name worker, BinaryOperator<String> scrub) {
    this.logs = logs;
    this.worker = worker;
    this.scrub = scrub;
  }

  /** Continues after the last piece of an earlier supervisor of the same name. */
  void follow(int piece) {
    last = new LogPiece(0, piece + 1, "");
  }

  /**
   * Of more lines than are kept, the first are dropped: the database may be unavailable for long.
   */
  synchronized void line(String line) {
    waiting.addLast(line);
    waitingChars += line.length() + 1;
    dropFirst();
  }

  /** Writes what was added since; what cannot be written now is written the next time. */
  void write() {
    List<String> lines = taken();
    if (lines.isEmpty()) {
      return;
    }
    boolean written = false;
    try {
      List<LogPiece> pieces =
          last.append(scrub.apply(last.text(), String.join("\n", lines) + "\n"));
      logs.write(
          worker, pieces.subList(Math.max(0, pieces.size() - Limits.LOG_PIECES), pieces.size()));
      last = pieces.isEmpty() ? last : pieces.getLast();
      written = true;
    } finally {
      if (!written) {
        putBack(lines);
      }
    }
  }

  private synchronized List<String> taken() {
    List<String> lines = List.copyOf(waiting);
    waiting.clear();
    waitingChars = 0;
    return lines;
  }

  private synchronized void putBack(List<String> lines) {
    for (String line : lines.reversed()) {
      waiting.addFirst(line);
      waitingChars += line.length() + 1;
    }
    dropFirst();
  }

  private void dropFirst() {
    while (waitingChars > MOST_CHARS) {
      waitingChars -= waiting.removeFirst().length() + 1;
    }
  }
}
