package dev.holdfast.process;

import java.util.ArrayDeque;
import java.util.Deque;

/** What a program said last. */
public final class LastLines {
  private static final int MOST = 40;

  private final Deque<String> lines = new ArrayDeque<>();

  public synchronized void add(String line) {
    if (lines.size() == MOST) {
      lines.removeFirst();
    }
    lines.addLast(line);
  }

  public synchronized String all() {
    return String.join("\n", lines);
  }

  /** The last one that says anything. */
  public synchronized String last() {
    return lines.reversed().stream().filter(line -> !line.isBlank()).findFirst().orElse("");
  }
}
