package dev.holdfast.process;

import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads a stream to its end, line by line, in bounded memory: a gigabyte without a newline is read
 * and dropped. A carriage return ends a line too, for programs that draw their progress with it.
 */
final class LineReader {
  private static final Logger log = System.getLogger(LineReader.class.getName());
  private static final int CHUNK = 16 << 10;
  private static final int LOOKS = 50;

  private final InputStream stream;
  private final LineListener listener;
  private final int most;
  private final Runnable exited;
  private final Thread thread;
  private volatile boolean reading;
  private final AtomicLong chunks = new AtomicLong();
  private byte[] line = new byte[256];
  private int length;
  private long cut;
  private boolean afterReturn;

  private LineReader(
      String name, InputStream stream, int most, LineListener listener, Runnable exited) {
    this.stream = stream;
    this.most = most;
    this.listener = listener;
    this.exited = exited;
    // Not virtual: reading a pipe blocks the thread underneath.
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::readAll);
  }

  /**
   * @param exited returns when the program has exited, and nothing more can come into the stream
   */
  static LineReader start(
      String name, InputStream stream, int most, LineListener listener, Runnable exited) {
    LineReader reader = new LineReader(name, stream, most, listener, exited);
    reader.thread.start();
    return reader;
  }

  /**
   * Waits for the end of the stream, and until all that was read has been taken, however long that
   * takes. Whoever still holds it open and says nothing for so long is not listened to.
   */
  void finish(Duration timeout) {
    long before = chunks.get();
    int silent = 0;
    // Many short waits: if the machine stands still during one of them, this thread may be the
    // first to run again, and what the reader has not read yet would look like silence.
    while (!ProcessTree.uninterruptibly(() -> thread.join(timeout.dividedBy(LOOKS)))) {
      long now = chunks.get();
      silent = reading && now == before ? silent + 1 : 0;
      before = now;
      if (silent == LOOKS) {
        close();
        return;
      }
    }
  }

  private void close() {
    try {
      stream.close();
    } catch (IOException closing) {
      log.log(Level.DEBUG, "a stream could not be closed", closing);
    }
  }

  private void readAll() {
    byte[] chunk = new byte[CHUNK];
    try (stream) {
      readToEnd(chunk);
      exited.run();
      readToEnd(chunk);
    } catch (IOException closing) {
      log.log(Level.DEBUG, "a stream could not be closed", closing);
    }
    if (length > 0 || cut > 0) {
      deliver();
    }
  }

  /** A program that exits may take the stream away from under a read: {@link PipeDrain}. */
  private void readToEnd(byte[] chunk) {
    try {
      int read;
      while ((read = read(chunk)) >= 0) {
        guarded(listener::heard);
        take(chunk, read);
      }
    } catch (IOException closed) {
      log.log(Level.DEBUG, "a program's output was closed", closed);
    }
  }

  private int read(byte[] chunk) throws IOException {
    reading = true;
    try {
      return stream.read(chunk);
    } finally {
      reading = false;
      chunks.incrementAndGet();
    }
  }

  private void take(byte[] chunk, int read) {
    int from = 0;
    while (from < read) {
      int end = lineEnd(chunk, from, read);
      append(chunk, from, end);
      afterReturn &= end == from;
      if (end < read) {
        boolean secondHalf = chunk[end] == '\n' && afterReturn && length == 0 && cut == 0;
        afterReturn = chunk[end] == '\r';
        if (!secondHalf) {
          deliver();
        }
      }
      from = end + 1;
    }
  }

  private static int lineEnd(byte[] chunk, int from, int to) {
    int at = from;
    while (at < to && chunk[at] != '\n' && chunk[at] != '\r') {
      at++;
    }
    return at;
  }

  private void append(byte[] chunk, int from, int to) {
    int taken = Math.min(to - from, most - length);
    cut += to - from - taken;
    if (length + taken > line.length) {
      line = Arrays.copyOf(line, Math.min(most, Math.max(line.length * 2, length + taken)));
    }
    System.arraycopy(chunk, from, line, length, taken);
    length += taken;
  }

  private void deliver() {
    String text = new String(line, 0, length, StandardCharsets.UTF_8);
    long dropped = cut;
    length = 0;
    cut = 0;
    guarded(() -> listener.line(text, dropped));
  }

  private static void guarded(Runnable taking) {
    try {
      taking.run();
    } catch (RuntimeException e) {
      // The program must not block on a full pipe because its output is not read.
      log.log(Level.WARNING, "a line of output could not be taken", e);
    }
  }
}
