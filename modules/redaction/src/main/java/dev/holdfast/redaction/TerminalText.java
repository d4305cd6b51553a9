package dev.holdfast.redaction;

import dev.holdfast.model.value.Text;
import java.util.function.Consumer;

/**
 * Turns what was written for a terminal into what is read there: without colours and other escape
 * sequences, of a line that was drawn over only what was drawn last, with each overstruck character
 * once, and without characters that are not seen. Between the letters of a secret any of these
 * would hide it from a search.
 *
 * <p>Text may come in pieces, cut anywhere. The line under way is held back; of a very long one,
 * its last characters. For one thread.
 */
final class TerminalText {
  private static final int MOST_HELD = 2 << 10;
  private static final int KEPT = 256;
  private static final int LONGEST_SEQUENCE = 4 << 10;
  private static final int MOST_COLUMNS = 256;
  private static final int NOWHERE = Integer.MAX_VALUE;
  private static final char ESC = '\u001b';
  private static final char BELL = '\u0007';

  /** The first half of tags and of rarer variation selectors. */
  private static final char TAG = '\udb40';

  private enum State {
    TEXT,
    ESCAPE,
    /** Parameters and a letter: colours, movements. */
    CONTROL_SEQUENCE,
    /** A title or a link, up to its terminator. */
    STRING,
    STRING_ESCAPE
  }

  private final Consumer<String> sink;
  private final StringBuilder line = new StringBuilder();
  private final StringBuilder parameters = new StringBuilder();
  private State state = State.TEXT;
  private int cursor;
  private int saved = NOWHERE;
  private int sequence;
  private boolean returned;
  private boolean flushed;
  private boolean inTag;

  TerminalText(Consumer<String> sink) {
    this.sink = sink;
  }

  void write(String text) {
    int at = 0;
    while (at < text.length()) {
      int end = isAppending() ? plainEnd(text, at) : at;
      if (end > at) {
        plain(text, at, end);
        at = end;
      } else {
        take(text.charAt(at++));
      }
    }
  }

  private boolean isAppending() {
    return state == State.TEXT && !returned && !inTag && cursor == line.length();
  }

  /** Nothing more comes. */
  void end() {
    state = State.TEXT;
    returned = false;
    emit("");
  }

  /** Most text: whole lines are passed on as they are. */
  private void plain(String text, int start, int end) {
    int rest = end;
    while (rest > start && text.charAt(rest - 1) != '\n') {
      rest--;
    }
    if (rest > start) {
      emit(text.substring(start, rest));
    }
    for (int from = rest; from < end; ) {
      int to = Math.min(end, from + MOST_HELD - line.length());
      line.append(text, from, to);
      cursor = line.length();
      from = to;
      flushIfLong();
    }
  }

  private static int plainEnd(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean ascii = c >= ' ' && c < 0x7F;
      if (!ascii && c != '\n' && c != '\t' && (c < 0xA0 || isUnseen(c))) {
        return i;
      }
    }
    return text.length();
  }

  private static boolean isUnseen(char c) {
    return Text.isUnseen(c) || isJoining(c);
  }

  private static boolean isJoining(char c) {
    return Text.isJoining(c) || c == TAG;
  }

  private void take(char c) {
    switch (state) {
      case TEXT -> text(c);
      case ESCAPE -> escape(c);
      case CONTROL_SEQUENCE -> controlSequence(c);
      case STRING -> string(c);
      case STRING_ESCAPE -> {
        state = State.TEXT;
        if (c != '\\') {
          state = State.ESCAPE;
          escape(c);
        }
      }
    }
  }

  private void text(char c) {
    switch (c) {
      case '\n' -> {
        returned = false;
        emit("\n");
      }
      case '\r' -> returned = true;
      case '\b' -> back(1);
      case '\t' -> draw(c);
      case ESC -> state = State.ESCAPE;
      case '\u009b' -> begin(State.CONTROL_SEQUENCE);
      case '\u0090', '\u0098', '\u009d', '\u009e', '\u009f' -> begin(State.STRING);
      default -> {
        boolean second = inTag && Character.isLowSurrogate(c);
        inTag = c == TAG && isDropped(c);
        if (!second && c >= ' ' && (c < 0x7F || c >= 0xA0) && !(isUnseen(c) && isDropped(c))) {
          draw(c);
        }
      }
    }
  }

  private boolean isDropped(char c) {
    return !isJoining(c) || returned || cursor == 0 || line.charAt(cursor - 1) < 128;
  }

  private void begin(State next) {
    state = next;
    sequence = 0;
    parameters.setLength(0);
  }

  private void escape(char c) {
    switch (c) {
      case '[' -> begin(State.CONTROL_SEQUENCE);
      case ']', 'P', 'X', '^', '_' -> begin(State.STRING);
      case ESC -> {}
      case '7' -> save();
      case '8' -> restore();
      default -> {
        if (c < ' ' || c > '~') {
          state = State.TEXT;
          text(c);
        } else if (c >= '0') {
          state = State.TEXT;
        }
      }
    }
  }

  private void controlSequence(char c) {
    if (c >= ' ' && c <= '?' && ++sequence < LONGEST_SEQUENCE) {
      if (parameters.length() < KEPT) {
        parameters.append(c);
      }
      return;
    }
    state = State.TEXT;
    if (c < '@' || c > '~') {
      text(c);
      return;
    }
    switch (c) {
      case 'C' -> forward(number(1));
      case 'D' -> back(number(1));
      case 'G', '`' -> column(number(1));
      case 's' -> save();
      case 'u' -> restore();
      case 'K' -> erase(number(0));
      default -> {}
    }
  }

  private int number(int otherwise) {
    try {
      return parameters.isEmpty()
          ? otherwise
          : Math.clamp(Long.parseLong(parameters, 0, parameters.length(), 10), 0, MOST_COLUMNS);
    } catch (NumberFormatException several) {
      return otherwise;
    }
  }

  private void string(char c) {
    if (c == ESC) {
      state = State.STRING_ESCAPE;
    } else if (c == BELL || c == '\u009c') {
      state = State.TEXT;
    } else if (c == '\n' || ++sequence >= LONGEST_SEQUENCE) {
      // Whoever forgot the end must not silence the rest.
      state = State.TEXT;
      text(c);
    }
  }

  private void draw(char c) {
    if (returned) {
      redraw();
    }
    if (cursor == line.length()) {
      line.append(c);
    } else {
      int end = cursor + Character.charCount(line.codePointAt(cursor));
      line.replace(cursor, end, String.valueOf(c));
    }
    cursor++;
    flushIfLong();
  }

  /** A carriage return draws over what was there; what was handed out stays a line of its own. */
  private void redraw() {
    returned = false;
    if (flushed) {
      emit("\n");
    }
    line.setLength(0);
    cursor = 0;
  }

  private void back(int columns) {
    for (int i = 0; i < columns && cursor > 0; i++) {
      cursor -= Character.charCount(line.codePointBefore(cursor));
    }
  }

  private void column(int number) {
    if (number <= 1) {
      returned = true;
    } else if (!flushed) {
      returned = false;
      cursor = 0;
      forward(number - 1);
    }
  }

  private void save() {
    state = State.TEXT;
    saved = cursor;
  }

  private void restore() {
    state = State.TEXT;
    if (saved <= line.length()) {
      cursor = saved;
    }
  }

  /** Some draw their spaces like this. */
  private void forward(int columns) {
    for (int i = 0; i < columns; i++) {
      if (cursor < line.length() && !returned) {
        cursor += Character.charCount(line.codePointAt(cursor));
      } else {
        draw(' ');
      }
    }
  }

  private void erase(int what) {
    if (what == 2 || returned) {
      line.setLength(0);
      cursor = 0;
    } else if (what == 0) {
      line.setLength(cursor);
    }
  }

  private void flushIfLong() {
    if (line.length() >= MOST_HELD && cursor == line.length()) {
      sink.accept(line.substring(0, line.length() - KEPT));
      line.delete(0, line.length() - KEPT);
      cursor = line.length();
      saved = NOWHERE;
      flushed = true;
    }
  }

  private void emit(String more) {
    if (!line.isEmpty() || !more.isEmpty()) {
      sink.accept(line.isEmpty() ? more : line.append(more).toString());
    }
    line.setLength(0);
    cursor = 0;
    saved = NOWHERE;
    flushed = false;
  }
}
