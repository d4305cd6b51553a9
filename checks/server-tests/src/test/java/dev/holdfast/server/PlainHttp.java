package dev.holdfast.server;

import static dev.holdfast.testkit.Soon.SOON;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * One kept connection for each thread, and no more than it takes to post: where requests go by ten
 * thousands, a client for all purposes would be a quarter of the work.
 */
public final class PlainHttp implements AutoCloseable {
  private static final int TIMEOUT_MS = (int) SOON.toMillis();

  private final URI server;
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private final ThreadLocal<Line> lines = ThreadLocal.withInitial(this::connected);

  public PlainHttp(URI server) {
    this.server = server;
  }

  /** An answer in JSON. */
  public record Reply(int status, JsonNode body) {}

  private record Line(Socket socket, InputStream in) {}

  private Line connected() {
    try {
      Socket socket = new Socket(server.getHost(), server.getPort());
      sockets.add(socket);
      socket.setSoTimeout(TIMEOUT_MS);
      socket.setTcpNoDelay(true);
      return new Line(socket, new BufferedInputStream(socket.getInputStream()));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  public Reply post(String path, Object body, @Nullable String bearer) {
    byte[] content = Wire.write(body);
    byte[] head =
        """
        POST %s HTTP/1.1
        Host: %s
        Content-Type: application/json
        Content-Length: %d
        %s
        """
            .formatted(
                path,
                server.getAuthority(),
                content.length,
                bearer == null ? "" : "Authorization: Bearer " + bearer + "\n")
            .replace("\n", "\r\n")
            .getBytes(StandardCharsets.ISO_8859_1);
    byte[] request = new byte[head.length + content.length];
    System.arraycopy(head, 0, request, 0, head.length);
    System.arraycopy(content, 0, request, head.length, content.length);
    Line line = lines.get();
    try {
      if (!sent(line, request)) {
        // A kept connection that was idle for long, on a slow machine, is closed.
        lines.remove();
        line = lines.get();
        line.socket().getOutputStream().write(request);
      }
      return answer(line.in());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Whether the first byte of an answer is there. */
  private static boolean sent(Line line, byte[] request) throws IOException {
    try {
      line.socket().getOutputStream().write(request);
      line.in().mark(1);
      int first = line.in().read();
      line.in().reset();
      return first >= 0;
    } catch (SocketException e) {
      return false;
    }
  }

  private static Reply answer(InputStream in) throws IOException {
    int status = Integer.parseInt(line(in).split(" ", 3)[1]);
    int length = -1;
    for (String header = line(in); !header.isEmpty(); header = line(in)) {
      String[] parts = header.toLowerCase(Locale.ROOT).split(": *", 2);
      if (parts[0].equals("content-length")) {
        length = Integer.parseInt(parts[1]);
      }
    }
    if (length < 0) {
      throw new IOException("an answer without a length, status " + status);
    }
    return new Reply(status, Wire.tree(in.readNBytes(length)));
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    int next;
    while ((next = in.read()) != '\n') {
      if (next < 0) {
        throw new EOFException("the server has hung up after '" + line + "'");
      }
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  @Override
  public void close() {
    for (Socket socket : sockets) {
      try {
        socket.close();
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }
  }
}
