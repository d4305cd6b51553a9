package dev.holdfast.redaction;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds known values that go over the end of a line, because whoever printed them wraps lines, or
 * encodes a file of which they are a part. What is left of a line once it has ended is looked up by
 * its last four characters, and what a line begins with by its first four.
 */
final class WrappedValues {
  private static final int GRAM = 4;
  private static final int MOST_INDEXED = 512;
  private static final int MOST_INDENT = 32;

  private final Index ends = new Index();
  private final Index starts = new Index();

  WrappedValues(List<String> written) {
    for (String value : written) {
      char[] text = value.toCharArray();
      int most = Math.min(value.length() - 1, MOST_INDEXED);
      for (int end = GRAM; end <= most; end++) {
        ends.add(text, end - GRAM, new Part(value, end));
      }
      // So little was in the line before that the rest is nearly all of it.
      for (int from = 1; from < GRAM && value.length() - from >= 2 * GRAM; from++) {
        starts.add(text, from, new Part(value, from));
      }
    }
  }

  /** A value, of which so many characters stood in the lines before. */
  record Part(String value, int length) {}

  /** By four characters. */
  private static final class Index {
    private final Map<Long, List<Part>> parts = new HashMap<>();

    void add(char[] text, int from, Part part) {
      parts.computeIfAbsent(gram(text, from), unused -> new ArrayList<>(1)).add(part);
    }

    List<Part> at(char[] text, int from) {
      return parts.getOrDefault(gram(text, from), List.of());
    }

    private static long gram(char[] text, int from) {
      long gram = 0;
      for (int i = from; i < from + GRAM; i++) {
        gram = gram << Character.SIZE | text[i];
      }
      return gram;
    }
  }

  /** Values that may have begun in a line which ends here. */
  List<Part> begunIn(char[] text, int from, int end) {
    if (end - from < GRAM) {
      return List.of();
    }
    List<Part> parts = ends.at(text, end - GRAM);
    return parts.isEmpty()
        ? parts
        : parts.stream()
            .filter(part -> part.length <= end - from && hasPart(text, part, end - part.length))
            .toList();
  }

  private static boolean hasPart(char[] text, Part part, int at) {
    return at >= 0 && Line.startsWith(text, at, text.length, part.value.substring(0, part.length));
  }

  /** Where the text of a line begins. */
  static int indented(char[] text, int from, int end) {
    int at = from;
    while (at < end && at - from < MOST_INDENT && (text[at] == ' ' || text[at] == '\t')) {
      at++;
    }
    return at;
  }

  /**
   * How a line goes on with a value that began before.
   *
   * @param end of what belongs to it in this line
   * @param more what has stood until then, when the line ended first
   */
  record Rest(int end, @Nullable Part more) {}

  /** Null where it is not the value's rest. */
  static @Nullable Rest rest(Part part, char[] text, int from, int end) {
    int left = part.value.length() - part.length;
    int length = Math.min(left, end - from);
    if (length == 0
        || !Line.startsWith(
            text, from, end, part.value.substring(part.length, part.length + length))) {
      return null;
    }
    if (length == left) {
      return new Rest(from + length, null);
    }
    // A few characters may be anything.
    return length < GRAM ? null : new Rest(end, new Part(part.value, part.length + length));
  }

  /** Reads the lines of a patch, each after the character that says what became of it. */
  final class Lines {
    private List<Part> begun = List.of();

    /** Whether a value ends in this line that has begun in one before. */
    boolean completes(String line) {
      char[] text = line.toCharArray();
      int start = indented(text, Math.min(1, text.length), text.length);
      List<Part> more = new ArrayList<>();
      for (Part part : begun) {
        Rest rest = rest(part, text, start, text.length);
        if (rest != null && rest.more == null) {
          return true;
        }
        if (rest != null) {
          more.add(rest.more);
        }
      }
      begun = more.isEmpty() ? begunIn(text, start, text.length) : more;
      return nearlyWhole(text, start, text.length) != null;
    }
  }

  /** Values of which the line before may have had the first few characters. */
  @Nullable Rest nearlyWhole(char[] text, int from, int end) {
    if (end - from < GRAM) {
      return null;
    }
    for (Part part : starts.at(text, from)) {
      Rest rest = rest(part, text, from, end);
      if (rest != null && rest.more == null) {
        return rest;
      }
    }
    return null;
  }
}
