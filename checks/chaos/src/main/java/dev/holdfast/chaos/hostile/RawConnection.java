package dev.holdfast.chaos.hostile;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A connection that sends bytes as they are and reads what a server answers. */
final class RawConnection implements AutoCloseable {
  /** The server closed the connection without an answer. */
  static final int CLOSED = -1;

  /** No answer in time: the request waits for a job, or the server waits for the rest of it. */
  static final int WAITS = -2;

  private static final int TIMEOUT_MS = 3_000;
  private static final int LONGEST_LINE = 100_000;

  private final int port;
  private @Nullable Socket socket;
  private @Nullable InputStream in;

  RawConnection(int port) {
    this.port = port;
  }

  /**
   * The status of the answer, or {@link #CLOSED} or {@link #WAITS}. A connection that was kept open
   * may have been closed by the server meanwhile; then the request is sent once more on a new one.
   */
  int send(RequestWriter.Request request) throws IOException {
    boolean kept = socket != null;
    int status = sendOnce(request);
    return status == CLOSED && kept && !request.endsConnection() ? sendOnce(request) : status;
  }

  private int sendOnce(RequestWriter.Request request) throws IOException {
    try {
      Socket open = open();
      open.getOutputStream().write(request.bytes());
      open.getOutputStream().flush();
      if (request.endsConnection()) {
        open.shutdownOutput();
      }
      int status = readAnswer(request.summary().startsWith("HEAD "));
      if (request.endsConnection()) {
        close();
      }
      return status;
    } catch (SocketTimeoutException waits) {
      close();
      return WAITS;
    } catch (EOFException | SocketException closed) {
      close();
      return CLOSED;
    }
  }

  private Socket open() throws IOException {
    Socket open = socket;
    if (open == null) {
      open = new Socket(InetAddress.getLoopbackAddress(), port);
      open.setSoTimeout(TIMEOUT_MS);
      open.setTcpNoDelay(true);
      socket = open;
      in = new BufferedInputStream(open.getInputStream());
    }
    return open;
  }

  private int readAnswer(boolean head) throws IOException {
    String[] first = line().split(" ", 3);
    int status = first.length > 1 ? Integer.parseInt(first[1]) : 0;
    long length = -1;
    boolean chunked = false;
    boolean ends = false;
    for (String header = line(); !header.isEmpty(); header = line()) {
      String name = header.toLowerCase(Locale.ROOT);
      if (name.startsWith("content-length:")) {
        length = Long.parseLong(name.substring(15).strip());
      } else if (name.startsWith("transfer-encoding:")) {
        chunked = true;
      } else if (name.equals("connection: close") || name.contains("text/event-stream")) {
        ends = true;
      }
    }
    if (ends) {
      close();
    } else if (!head && status != 204 && status != 304 && status >= 200) {
      skipBody(length, chunked);
    }
    return status;
  }

  private void skipBody(long length, boolean chunked) throws IOException {
    if (chunked) {
      long size;
      do {
        size = Long.parseLong(line().strip(), 16);
        skip(size + 2);
      } while (size > 0);
    } else if (length >= 0) {
      skip(length);
    } else {
      close();
    }
  }

  private void skip(long bytes) throws IOException {
    if (in == null) {
      throw new EOFException();
    }
    in.skipNBytes(bytes);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    InputStream from = in;
    while (from != null && line.length() < LONGEST_LINE) {
      int next = from.read();
      if (next == '\n') {
        return line.toString().strip();
      }
      if (next < 0) {
        break;
      }
      line.append((char) next);
    }
    throw new EOFException("after " + line.length() + " characters of a line");
  }

  @Override
  public void close() {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      // It is of no use any more.
    }
    socket = null;
    in = null;
  }
}
