package dev.holdfast.redaction;

import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Scrubs text that comes in pieces, cut anywhere. It is made {@link TerminalText plain} first, and
 * not changed any more once it is scrubbed. Whole lines are handed out as soon as they are
 * complete, several at a time if they came together; one that ends like a known value begins, with
 * the next one; of a line without end, all but the last 18 Ki characters. For one thread.
 */
public final class ScrubbingStream implements AutoCloseable {
  private static final int MOST_HELD = 16 << 10;
  private static final int BEHIND = 128;
  private static final int NOTHING = -1;

  private enum Mode {
    TEXT,
    REST_OF_SECRET,
    PRIVATE_KEY
  }

  private final TerminalText plain = new TerminalText(this::take);
  private final Scrubber scrubber;
  private final WrappedValues wrapped;
  private final Triggers.Walk walk;
  private final Consumer<String> sink;
  private final char[] buffer;
  private final StringBuilder out = new StringBuilder();
  private Mode mode = Mode.TEXT;
  private int keyLeft;
  // Within the buffer: handed out ≤ piece ≤ scanned ≤ length. Between the first two is what may be
  // handed out; from the piece's start on, it must be complete first. What lies between `begin` and
  // the piece is only looked back at.
  private int begin;
  private int handedOut;
  private int piece;
  private int scanned;
  private int length;
  private long[] hits = new long[16];
  private int hitCount;
  private boolean atLineStart = true;
  // Values that may have begun at the end of the line before, which is held back for them.
  private List<WrappedValues.Part> begun = List.of();
  private int heldFrom = NOTHING;

  ScrubbingStream(
      Scrubber scrubber,
      Triggers triggers,
      WrappedValues wrapped,
      Consumer<String> sink,
      int expected) {
    this.scrubber = scrubber;
    this.wrapped = wrapped;
    this.walk = triggers.new Walk();
    this.sink = sink;
    this.buffer = new char[BEHIND + Math.min(expected, MOST_HELD)];
  }

  public void write(String text) {
    plain.write(text);
    handOut();
  }

  private void take(String text) {
    int from = 0;
    while (from < text.length()) {
      // A piece is cut when it has exactly this length, so that the outcome does not depend on how
      // the text came.
      int taken = Math.min(text.length() - from, MOST_HELD - (length - piece));
      if (length + taken > buffer.length) {
        makeRoom();
        taken = Math.min(taken, buffer.length - length);
      }
      text.getChars(from, from + taken, buffer, length);
      length += taken;
      from += taken;
      scan();
      if (length - piece == MOST_HELD) {
        cut();
      }
    }
  }

  @Override
  public void close() {
    plain.end();
    scan();
    while (piece < length) {
      settle(length, length);
      scan();
    }
    heldFrom = NOTHING;
    handOut();
  }

  private void scan() {
    while (scanned < length) {
      int at = walk.advance(buffer, scanned, length);
      if (at == length) {
        scanned = length;
      } else if (walk.atLineEnd()) {
        scanned = at + 1;
        settle(at, at + 1);
      } else {
        scanned = at + 1;
        note(walk.found(), at + 1);
      }
    }
  }

  private void note(int[] rules, int end) {
    for (int rule : rules) {
      Rule found = scrubber.rule(rule);
      int at = end - found.trigger().length();
      if (mode == Mode.TEXT && at >= begin && found.mayApply(buffer, begin, at)) {
        if (hitCount == hits.length) {
          hits = Arrays.copyOf(hits, hitCount * 2);
        }
        hits[hitCount++] = ((long) (at - piece) << 32) | rule;
      }
    }
  }

  /** The piece ends a line: its text at {@code end}, with the line's end at {@code next}. */
  private void settle(int end, int next) {
    switch (mode) {
      case TEXT -> {
        Line line = new Line(buffer, begin, piece, end);
        goOn(line, end);
        applyRules(line, 0, end);
        if (line.privateKey() >= 0) {
          enterPrivateKey(line);
          settle(end, next);
          return;
        }
        if (!line.isClean()) {
          replace(scrubber.again(line.scrubbed(end)), end);
        }
        if (begun.isEmpty()) {
          begun = wrapped.begunIn(buffer, begin, end);
        }
        startPiece(next);
        atLineStart = true;
        holdBack(next > end);
      }
      case REST_OF_SECRET -> {
        mode = Mode.TEXT;
        atLineStart = true;
        drop(end);
        startPiece(next);
      }
      case PRIVATE_KEY -> {
        skipPrivateKey(end, next);
        if (mode == Mode.PRIVATE_KEY) {
          drop(next);
        }
      }
    }
  }

  /** The piece is as long as may be held, and no line's end in sight. */
  private void cut() {
    switch (mode) {
      case TEXT -> {
        int limit = length - Line.AHEAD;
        Line line = new Line(buffer, begin, piece, length);
        goOn(line, length);
        atLineStart = false;
        applyRules(line, 0, limit);
        int settled = limit;
        // A program's name may be far before its password: what is between them is checked too.
        while (line.privateKey() < 0 && line.maskedTo() > settled) {
          int from = settled;
          settled = line.maskedTo();
          applyRules(line, from, settled);
        }
        if (line.privateKey() >= 0) {
          enterPrivateKey(line);
          cut();
          return;
        }
        replace(line.scrubbed(settled), settled);
        if (settled == length) {
          // So long a secret is not taken apart any more.
          mode = Mode.REST_OF_SECRET;
        }
        startPiece(settled);
        begin = Math.max(0, settled - BEHIND);
        rescan();
      }
      case REST_OF_SECRET -> drop(length);
      case PRIVATE_KEY -> {
        int kept = length - PrivateKey.END.length();
        skipPrivateKey(length, kept);
        if (mode == Mode.PRIVATE_KEY) {
          drop(kept);
        }
        rescan();
      }
    }
  }

  /** Hides what the line has of a value that began in the line before, and its beginning there. */
  private void goOn(Line line, int end) {
    if (!atLineStart) {
      return;
    }
    int start = WrappedValues.indented(buffer, piece, end);
    List<WrappedValues.Part> parts = begun;
    begun = List.of();
    for (WrappedValues.Part part : parts) {
      WrappedValues.Rest rest = WrappedValues.rest(part, buffer, start, end);
      if (rest != null) {
        line.mask(start, rest.end());
        hideBeginning(part);
        begun = rest.more() == null ? begun : List.of(rest.more());
      }
    }
    heldFrom = NOTHING;
    WrappedValues.Rest most = wrapped.nearlyWhole(buffer, start, end);
    if (most != null) {
      line.mask(start, most.end());
    }
  }

  private void hideBeginning(WrappedValues.Part part) {
    int end = out.length() - 1;
    int from = end - part.length();
    String said = part.value().substring(0, part.length());
    if (heldFrom != NOTHING && from >= heldFrom && out.substring(from, end).equals(said)) {
      out.replace(from, end, Line.MASK);
    }
  }

  /** The line that has just ended stays here until the next one shows how it goes on. */
  private void holdBack(boolean ended) {
    if (ended && !begun.isEmpty()) {
      out.append(buffer, handedOut, piece - handedOut);
      handedOut = piece;
      heldFrom = out.lastIndexOf("\n", out.length() - 2) + 1;
    }
  }

  private void applyRules(Line line, int from, int limit) {
    for (int i = 0; i < hitCount && line.privateKey() < 0; i++) {
      int at = piece + (int) (hits[i] >>> 32);
      if (at >= from && at < limit) {
        scrubber.rule((int) hits[i]).apply(line, at);
      }
    }
  }

  private void enterPrivateKey(Line line) {
    int body = line.privateKey();
    replace(scrubber.again(line.scrubbed(body)) + Line.MASK, body);
    piece = body;
    hitCount = 0;
    mode = Mode.PRIVATE_KEY;
    keyLeft = PrivateKey.LONGEST;
  }

  /** Drops the key up to its end, or as much as a key may have; what follows is text again. */
  private void skipPrivateKey(int end, int next) {
    int stop = piece;
    while (stop < end && !Line.startsWith(buffer, stop, end, PrivateKey.END)) {
      stop++;
    }
    int body = stop < end ? stop : next;
    if (stop < end || body - piece >= keyLeft) {
      mode = Mode.TEXT;
      drop(Math.min(body, piece + keyLeft));
      rescan();
    } else {
      keyLeft -= body - piece;
    }
  }

  private void replace(String scrubbed, int end) {
    out.append(buffer, handedOut, piece - handedOut).append(scrubbed);
    handedOut = end;
  }

  private void drop(int end) {
    out.append(buffer, handedOut, piece - handedOut);
    handedOut = end;
    startPiece(end);
  }

  private void startPiece(int at) {
    piece = at;
    begin = at;
    hitCount = 0;
  }

  private void rescan() {
    scanned = piece;
    walk.restart();
  }

  private void makeRoom() {
    handOut();
    System.arraycopy(buffer, begin, buffer, 0, length - begin);
    piece -= begin;
    handedOut -= begin;
    scanned -= begin;
    length -= begin;
    begin = 0;
  }

  private void handOut() {
    out.append(buffer, handedOut, piece - handedOut);
    handedOut = piece;
    int end = heldFrom == NOTHING ? out.length() : heldFrom;
    if (end > 0) {
      sink.accept(out.substring(0, end));
      out.delete(0, end);
      heldFrom -= heldFrom == NOTHING ? 0 : end;
    }
  }
}
