package dev.holdfast.app.cli;

import dev.holdfast.app.error.Failures;
import java.util.ArrayList;
import java.util.List;

/** Columns for people, as wide as they need to be. */
public final class Table {
  private final List<String> head;
  private final List<List<String>> rows = new ArrayList<>();

  public Table(String... head) {
    this.head = List.of(head);
  }

  public Table row(Object... cells) {
    List<String> texts = new ArrayList<>();
    for (Object cell : cells) {
      texts.add(Failures.oneLine(String.valueOf(cell)));
    }
    rows.add(texts);
    return this;
  }

  public boolean isEmpty() {
    return rows.isEmpty();
  }

  @Override
  public String toString() {
    int[] width = new int[head.size()];
    measure(width, head);
    rows.forEach(row -> measure(width, row));
    StringBuilder text = new StringBuilder();
    append(text, width, head);
    rows.forEach(row -> append(text, width, row));
    return text.toString();
  }

  private static void measure(int[] width, List<String> row) {
    for (int i = 0; i < width.length; i++) {
      width[i] = Math.max(width[i], row.get(i).length());
    }
  }

  private static void append(StringBuilder text, int[] width, List<String> row) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < width.length; i++) {
      line.append(row.get(i)).append(" ".repeat(width[i] - row.get(i).length() + 2));
    }
    text.append(line.toString().stripTrailing()).append(System.lineSeparator());
  }
}
