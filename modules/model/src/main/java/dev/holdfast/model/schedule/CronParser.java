package dev.holdfast.model.schedule;

import java.util.BitSet;
import java.util.List;

/** Reads the fields of one cron expression; what is wrong is said with the whole of it. */
final class CronParser {
  private static final String LAST = "l";

  private final String text;

  CronParser(String text) {
    this.text = text;
  }

  /**
   * The values of a field.
   *
   * @param names that may stand for numbers, the first of them for {@code firstName}
   */
  BitSet field(String field, int min, int max, List<String> names, int firstName) {
    BitSet bits = new BitSet();
    for (String part : field.split(",", -1)) {
      add(bits, part, min, max, names, firstName);
    }
    return bits;
  }

  /**
   * @param last gets how many days before the end of the month, for {@code L} and {@code L-3}
   */
  BitSet daysOfMonth(String field, BitSet last) {
    BitSet bits = new BitSet();
    for (String part : field.split(",", -1)) {
      if (part.equals(LAST)) {
        last.set(0);
      } else if (part.startsWith(LAST + "-")) {
        last.set(number(part.substring(2), 1, 30));
      } else {
        add(bits, part, 1, 31, List.of(), 0);
      }
    }
    return bits;
  }

  /**
   * @param last gets the days of which only the last in a month counts, for {@code friL}
   */
  BitSet daysOfWeek(String field, List<String> names, BitSet last) {
    BitSet bits = new BitSet();
    for (String part : field.split(",", -1)) {
      if (part.length() > 1 && part.endsWith(LAST)) {
        last.set(value(part.substring(0, part.length() - 1), 0, 7, names, 0) % 7);
      } else {
        add(bits, part, 0, 7, names, 0);
      }
    }
    if (bits.get(7)) {
      bits.set(0); // both are Sunday
    }
    return bits;
  }

  private void add(BitSet bits, String part, int min, int max, List<String> names, int firstName) {
    String[] step = part.split("/", 2);
    int every = step.length == 2 ? number(step[1], 1, max) : 1;
    int from = min;
    int to = max;
    if (!step[0].equals("*")) {
      String[] range = step[0].split("-", 2);
      from = value(range[0], min, max, names, firstName);
      to =
          range.length == 2
              ? value(range[1], min, max, names, firstName)
              : step.length == 2 ? max : from;
    }
    if (from > to) {
      throw Cron.refuse(text, "'" + part + "' runs backwards");
    }
    for (int i = from; i <= to; i += every) {
      bits.set(i);
    }
  }

  private int value(String word, int min, int max, List<String> names, int firstName) {
    int named = names.indexOf(word);
    return named >= 0 ? named + firstName : number(word, min, max);
  }

  private int number(String word, int min, int max) {
    try {
      int number = Integer.parseInt(word);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException noNumber) {
      // said below
    }
    throw Cron.refuse(text, "'" + word + "' must be a number from " + min + " to " + max);
  }
}
