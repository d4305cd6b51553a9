package dev.holdfast.app.cli;

import dev.holdfast.app.terminal.Terminal;
import java.util.ArrayList;
import java.util.List;

/** Text in columns, each as wide as its widest cell. */
public final class Table {
  private final List<String> head;
  private final List<List<String>> rows = new ArrayList<>();

  public Table(String... head) {
    this.head = List.of(head);
  }

  /** A cell with blanks or lines of a tree before its text. */
  public record Indented(String indent, String text) {
    @Override
    public String toString() {
      return indent + Terminal.oneLine(text);
    }
  }

  public Table row(Object... cells) {
    List<String> texts = new ArrayList<>();
    for (Object cell : cells) {
      texts.add(
          cell instanceof Indented tree ? tree.toString() : Terminal.oneLine(String.valueOf(cell)));
    }
    rows.add(texts);
    return this;
  }

  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /** The table, or this line if it has no rows. */
  public String orIfEmpty(String line) {
    return rows.isEmpty() ? line + System.lineSeparator() : toString();
  }

  @Override
  public String toString() {
    int[] width = widths();
    StringBuilder text = new StringBuilder();
    append(text, width, head);
    rows.forEach(row -> append(text, width, row));
    return text.toString();
  }

  /** Its rows alone, below a table with the same columns. */
  public String below(Table first) {
    int[] width = first.widths();
    rows.forEach(row -> measure(width, row));
    StringBuilder text = new StringBuilder();
    rows.forEach(row -> append(text, width, row));
    return text.toString();
  }

  private int[] widths() {
    int[] width = new int[head.size()];
    measure(width, head);
    rows.forEach(row -> measure(width, row));
    return width;
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
