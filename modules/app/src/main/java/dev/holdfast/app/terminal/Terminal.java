package dev.holdfast.app.terminal;

import dev.holdfast.model.value.Text;
import java.util.Locale;

/**
 * Standard output and standard error of commands. Nothing else in the program writes to them: text
 * of jobs is hostile, and no escape sequence, control character or sign that hides or turns text
 * around may reach the terminal.
 */
public final class Terminal {
  private static final int LINE_CHARS = 500;

  private Terminal() {}

  /** Prints text without a line break at its end. */
  public static void print(Object text) {
    System.out.print(shown(text));
  }

  public static void println(Object text) {
    System.out.println(shown(text));
  }

  public static void println() {
    System.out.println();
  }

  @SuppressWarnings("AnnotateFormatMethod")
  public static void printf(String format, Object... values) {
    print(String.format(Locale.ROOT, format, values));
  }

  public static void flush() {
    System.out.flush();
  }

  /** Prints a line to standard error. */
  public static void error(String text) {
    System.err.println(shown(text));
  }

  private static String shown(Object text) {
    return Text.inert(String.valueOf(text).replace("\r\n", "\n"));
  }

  /** Prints JSON, and a line break. */
  public static void json(String json) {
    System.out.println(escaped(json));
  }

  /** Prints YAML whose unprintable characters are all in double quotes. */
  public static void yaml(String yaml) {
    System.out.print(Text.replaced(yaml, c -> (c > 0xFFFF ? "\\U%08X" : "\\u%04X").formatted(c)));
  }

  /** Draws a line that {@link #wipe} removes. */
  public static void draw(String line) {
    System.out.print(oneLine(line));
    System.out.flush();
  }

  public static void wipe(String drawn) {
    System.out.print("\r" + " ".repeat(oneLine(drawn).length()) + "\r");
  }

  /** JSON in which no character does anything to a terminal: each that would is an escape. */
  public static String escaped(String json) {
    return Text.replaced(
        json,
        character -> {
          StringBuilder escapes = new StringBuilder();
          for (char c : Character.toChars(character)) {
            escapes.append("\\u%04X".formatted((int) c));
          }
          return escapes.toString();
        });
  }

  /** Text for one line or one cell of a table; long text is cut. */
  public static String oneLine(String text) {
    String line = Text.inert(text.strip().replaceAll("\\s*\\R\\s*", " | ")).replace('\t', '·');
    return Text.excerpt(line, LINE_CHARS);
  }
}
