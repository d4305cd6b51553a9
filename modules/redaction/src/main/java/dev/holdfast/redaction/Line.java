package dev.holdfast.redaction;

import java.util.Arrays;

/** A line, or a piece of a very long one, and what is to be hidden in it. */
public final class Line {
  static final String MASK = "***";

  /** How far rules look ahead to decide. */
  static final int AHEAD = 4 << 10;

  final char[] text;
  private final int begin;
  private final int from;
  final int to;
  private long[] masks = new long[4];
  private int count;
  private int maskedFrom;
  private int maskedTo;
  private int checkedTo;
  private int privateKey = -1;

  /**
   * @param begin how far back rules may look: what lies before {@code from} was handed out already
   */
  Line(char[] text, int begin, int from, int to) {
    this.text = text;
    this.begin = begin;
    this.from = from;
    this.to = to;
  }

  static Line of(String text) {
    return new Line(text.toCharArray(), 0, 0, text.length());
  }

  int begin() {
    return begin;
  }

  /** A line end beyond both ends. */
  char at(int i) {
    return i >= begin && i < to ? text[i] : '\n';
  }

  boolean has(String word, int at) {
    return startsWith(text, at, to, word);
  }

  static boolean startsWith(char[] text, int at, int to, String word) {
    if (at < 0 || at + word.length() > to) {
      return false;
    }
    for (int i = 0; i < word.length(); i++) {
      if (text[at + i] != word.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  void mask(int start, int end) {
    if (count == masks.length) {
      masks = Arrays.copyOf(masks, count * 2);
    }
    masks[count++] = ((long) Math.max(start, from) << 32) | end;
    if (end > maskedTo) {
      maskedFrom = start;
      maskedTo = end;
    }
  }

  boolean masked(int at) {
    return at >= maskedFrom && at < maskedTo;
  }

  int maskedTo() {
    return maskedTo;
  }

  /** Names are checked once, however many triggers they contain. */
  boolean isChecked(int at) {
    return at < checkedTo;
  }

  void checkedTo(int end) {
    checkedTo = end;
  }

  /** All from here on, over the lines to come, is a private key's body until its end is seen. */
  void privateKeyFrom(int body) {
    privateKey = body;
  }

  int privateKey() {
    return privateKey;
  }

  boolean isClean() {
    return count == 0;
  }

  /** What may be kept, up to {@code end}; secrets that touch make one mask. */
  String scrubbed(int end) {
    Arrays.sort(masks, 0, count);
    StringBuilder kept = new StringBuilder(end - from);
    int done = from;
    boolean hidden = false;
    for (int i = 0; i < count; i++) {
      int start = (int) (masks[i] >>> 32);
      int stop = Math.min((int) masks[i], end);
      if (start >= end || (hidden && stop <= done)) {
        continue;
      }
      if (!hidden || start > done) {
        kept.append(text, done, start - done).append(MASK);
      }
      hidden = true;
      done = stop;
    }
    return kept.append(text, done, end - done).toString();
  }
}
