package dev.holdfast.app.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.json.Wire;
import java.util.Locale;

/** Prints what programs get with --json. */
public final class Shown {
  private Shown() {}

  public static void print(Object value) {
    Terminal.json(Wire.indented(value));
  }

  /** One object a line, for output without an end. */
  public static void printLine(Object value) {
    Terminal.json(Wire.text(value));
  }

  public static ObjectNode object() {
    return Wire.object();
  }

  /** Short, for tables: 512 B, 3.4 kB, 1.2 GB. */
  public static String bytes(long count) {
    if (count < 1_000) {
      return count + " B";
    }
    double value = count;
    int unit = -1;
    while (value >= 999.95 && unit < 4) {
      value /= 1_000;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %sB", value, "kMGTP".charAt(unit));
  }
}
