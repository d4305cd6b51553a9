package dev.holdfast.redaction;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Whether known secrets stand in a patch, in the lines of text files or in the bytes of others,
 * which git compresses and writes in base 85.
 */
final class PatchSearch {
  private static final String BINARY = "GIT binary patch";
  private static final String DIGITS =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
  private static final int BASE = 85;
  private static final int WINDOW = 64 << 10;
  private static final int COPY = 0x80;
  private static final int COPY_ARGUMENTS = 7;

  private final Triggers triggers;
  private final WrappedValues wrapped;
  private final boolean nothing;

  PatchSearch(Collection<String> secrets) {
    List<Rule> rules = KnownValues.byteRules(secrets);
    this.triggers = new Triggers(rules);
    this.wrapped = new WrappedValues(KnownValues.writtenInBytes(secrets));
    this.nothing = rules.isEmpty();
  }

  boolean isIn(Path patch) throws IOException {
    if (nothing) {
      return false;
    }
    try (BufferedReader lines = Files.newBufferedReader(patch, ISO_8859_1)) {
      Search text = new Search();
      WrappedValues.Lines wrappedLines = wrapped.new Lines();
      String line;
      while ((line = lines.readLine()) != null) {
        text.take(line);
        text.take("\n");
        if (text.found
            || wrappedLines.completes(line)
            || (line.equals(BINARY) && isInBinary(lines))) {
          return true;
        }
      }
      return text.isFound();
    } catch (DataFormatException | IllegalArgumentException damaged) {
      throw new IOException("the patch cannot be read: " + damaged.getMessage(), damaged);
    }
  }

  /** There and back: two blocks of data, an empty line after each. */
  private boolean isInBinary(BufferedReader lines) throws IOException, DataFormatException {
    boolean found = false;
    for (int block = 0; block < 2; block++) {
      String header = lines.readLine();
      if (header == null || header.isEmpty()) {
        return found;
      }
      found |= header.startsWith("delta ") ? isInDelta(lines) : isInLiteral(lines);
    }
    return found;
  }

  private boolean isInLiteral(BufferedReader lines) throws IOException, DataFormatException {
    Search search = new Search();
    inflate(lines, (bytes, length) -> search.take(new String(bytes, 0, length, ISO_8859_1)));
    return search.isFound();
  }

  /** What is inserted; what is copied from the file before it was in no patch of this job. */
  private boolean isInDelta(BufferedReader lines) throws IOException, DataFormatException {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    inflate(lines, (bytes, length) -> whole.write(bytes, 0, length));
    byte[] delta = whole.toByteArray();
    Search search = new Search();
    int at = afterNumber(delta, afterNumber(delta, 0));
    while (at < delta.length) {
      int operation = delta[at++] & 0xff;
      if ((operation & COPY) != 0) {
        at += Integer.bitCount(operation & ((1 << COPY_ARGUMENTS) - 1));
        search.take("\n");
      } else {
        int length = Math.min(operation, delta.length - at);
        search.take(new String(delta, at, length, ISO_8859_1));
        at += length;
      }
    }
    return search.isFound();
  }

  private static int afterNumber(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length && (bytes[at] & COPY) != 0) {
      at++;
    }
    return at + 1;
  }

  private interface Bytes {
    void take(byte[] bytes, int length);
  }

  private static void inflate(BufferedReader lines, Bytes sink)
      throws IOException, DataFormatException {
    Inflater inflater = new Inflater();
    try {
      byte[] inflated = new byte[WINDOW];
      String line;
      while ((line = lines.readLine()) != null && !line.isEmpty()) {
        inflater.setInput(decoded(line));
        int length;
        while ((length = inflater.inflate(inflated)) > 0) {
          sink.take(inflated, length);
        }
      }
    } finally {
      inflater.end();
    }
  }

  /** The first character says how many bytes follow, five characters for four of them. */
  private static byte[] decoded(String line) {
    char first = line.charAt(0);
    byte[] bytes = new byte[first <= 'Z' ? first - 'A' + 1 : first - 'a' + 27];
    int done = 0;
    for (int at = 1; at + 5 <= line.length(); at += 5) {
      long group = 0;
      for (int i = at; i < at + 5; i++) {
        group = group * BASE + DIGITS.indexOf(line.charAt(i));
      }
      for (int shift = 24; shift >= 0 && done < bytes.length; shift -= 8) {
        bytes[done++] = (byte) (group >> shift);
      }
    }
    return bytes;
  }

  /** Looks at what comes in windows that overlap. */
  private final class Search {
    private final char[] window = new char[WINDOW];
    private int length;
    private boolean found;

    void take(String text) {
      for (int from = 0; from < text.length() && !found; ) {
        int taken = Math.min(text.length() - from, WINDOW - length);
        text.getChars(from, from + taken, window, length);
        length += taken;
        from += taken;
        if (length == WINDOW) {
          look();
          System.arraycopy(window, WINDOW - Line.AHEAD, window, 0, Line.AHEAD);
          length = Line.AHEAD;
        }
      }
    }

    boolean isFound() {
      look();
      return found;
    }

    private void look() {
      Line line = new Line(window, 0, 0, length);
      Triggers.Walk walk = triggers.new Walk();
      int at = -1;
      while (!found && (at = walk.advance(window, at + 1, length)) < length) {
        for (int index : walk.found()) {
          Rule rule = triggers.rule(index);
          rule.apply(line, at + 1 - rule.trigger().length());
        }
        found = !line.isClean();
      }
    }
  }
}
