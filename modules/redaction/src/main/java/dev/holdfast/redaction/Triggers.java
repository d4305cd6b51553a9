package dev.holdfast.redaction;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * Finds where a rule may apply, in one pass whatever the number of rules (Aho and Corasick). Case
 * is ignored here: the rules look closer.
 */
final class Triggers {
  private static final int UNUSED = 0;
  private static final int NOT_ASCII = 1;
  private static final int LINE_END = 2;
  private static final int ROOT = 0;

  private final List<Rule> rules;
  private final byte[] classes = new byte[128];
  private final int width;
  // Rows of `width` targets; a state is the index of its row. Those that want attention come last,
  // so that the loop over ordinary text has one comparison.
  private final int[] next;
  private final int[][] found;
  private final int special;
  private final int lineEnd;

  Triggers(List<Rule> rules) {
    this.rules = List.copyOf(rules);
    this.width = classify(rules);
    List<int[]> rows = new ArrayList<>(List.of(new int[width]));
    List<int[]> ends = new ArrayList<>(List.of(new int[0]));
    for (int i = 0; i < rules.size(); i++) {
      plant(rules.get(i).trigger(), i, rows, ends);
    }
    link(rows, ends);
    rows.add(rows.get(ROOT).clone());
    ends.add(new int[0]);
    int[] place = ordinaryFirst(ends);
    this.found = new int[rows.size()][];
    this.next = new int[rows.size() * width];
    this.lineEnd = place[rows.size() - 1] * width;
    int firstSpecial = rows.size() - 1;
    for (int state = 0; state < rows.size(); state++) {
      found[place[state]] = ends.get(state);
      if (ends.get(state).length > 0) {
        firstSpecial = Math.min(firstSpecial, place[state]);
      }
      for (int c = 0; c < width; c++) {
        next[place[state] * width + c] =
            c == LINE_END ? lineEnd : place[rows.get(state)[c]] * width;
      }
    }
    this.special = firstSpecial * width;
  }

  private int classify(List<Rule> rules) {
    classes['\n'] = LINE_END;
    classes['\r'] = LINE_END;
    int count = LINE_END + 1;
    for (Rule rule : rules) {
      for (int i = 0; i < rule.trigger().length(); i++) {
        char c = rule.trigger().charAt(i);
        int lower = c >= 'A' && c <= 'Z' ? c + 32 : c;
        if (lower < 128 && classes[lower] == UNUSED) {
          classes[lower] = (byte) count++;
        }
      }
    }
    for (char c = 'A'; c <= 'Z'; c++) {
      classes[c] = classes[c + 32];
    }
    return count;
  }

  private void plant(String word, int rule, List<int[]> rows, List<int[]> ends) {
    int state = ROOT;
    for (int i = 0; i < word.length(); i++) {
      int[] row = rows.get(state);
      int at = classOf(word.charAt(i));
      if (row[at] == ROOT) {
        row[at] = rows.size();
        rows.add(new int[width]);
        ends.add(new int[0]);
      }
      state = row[at];
    }
    ends.set(state, with(ends.get(state), rule));
  }

  /** Where a word breaks off, what was read may still be the beginning of another one. */
  private void link(List<int[]> rows, List<int[]> ends) {
    int[] fallback = new int[rows.size()];
    Deque<Integer> queue = new ArrayDeque<>(List.of(ROOT));
    while (!queue.isEmpty()) {
      int state = queue.remove();
      int[] row = rows.get(state);
      for (int c = 0; c < width; c++) {
        int instead = state == ROOT ? ROOT : rows.get(fallback[state])[c];
        if (row[c] == ROOT) {
          row[c] = instead;
        } else {
          fallback[row[c]] = instead;
          ends.set(row[c], with(ends.get(row[c]), ends.get(instead)));
          queue.add(row[c]);
        }
      }
    }
  }

  private static int[] with(int[] some, int... more) {
    int[] all = Arrays.copyOf(some, some.length + more.length);
    System.arraycopy(more, 0, all, some.length, more.length);
    return all;
  }

  private static int[] ordinaryFirst(List<int[]> ends) {
    int[] place = new int[ends.size()];
    int at = 0;
    for (int state = 0; state < place.length - 1; state++) {
      if (ends.get(state).length == 0) {
        place[state] = at++;
      }
    }
    for (int state = 0; state < place.length - 1; state++) {
      if (ends.get(state).length > 0) {
        place[state] = at++;
      }
    }
    place[place.length - 1] = at;
    return place;
  }

  private int classOf(char c) {
    return c < 128 ? classes[c] : NOT_ASCII;
  }

  Rule rule(int index) {
    return rules.get(index);
  }

  /** A reader of text that comes piece by piece. */
  final class Walk {
    private int state = ROOT;

    void restart() {
      state = ROOT;
    }

    /** The index of the next character that ends a trigger or a line; {@code to} when none does. */
    int advance(char[] text, int from, int to) {
      int now = state;
      for (int i = from; i < to; i++) {
        char c = text[i];
        now = next[now + (c < 128 ? classes[c] : NOT_ASCII)];
        if (now >= special) {
          state = now;
          return i;
        }
      }
      state = now;
      return to;
    }

    boolean atLineEnd() {
      return state == lineEnd;
    }

    /** The rules whose triggers end here. */
    int[] found() {
      return found[state / width];
    }
  }
}
