package dev.holdfast.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** One kept-alive connection that costs next to nothing itself, so that the server is measured. */
final class RawHttp implements AutoCloseable {
  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private final String host;

  RawHttp(URI server) throws IOException {
    this.socket = new Socket(server.getHost(), server.getPort());
    this.socket.setTcpNoDelay(true);
    this.in = new BufferedInputStream(socket.getInputStream(), 16 << 10);
    this.out = socket.getOutputStream();
    this.host = server.getHost() + ":" + server.getPort();
  }

  byte[] request(String method, String path, String bearer, String body) {
    return """
        %s %s HTTP/1.1
        Host: %s
        %sContent-Type: application/json
        Content-Length: %d

        %s"""
        .formatted(
            method,
            path,
            host,
            bearer.isEmpty() ? "" : "Authorization: Bearer " + bearer + "\n",
            body.length(),
            body)
        .replace("\n", "\r\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  byte[] get(String path) {
    return "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n"
        .formatted(path, host)
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** The status of the answer. */
  int ask(byte[] request) throws IOException {
    send(request);
    return answer().status();
  }

  void send(byte[] request) throws IOException {
    out.write(request);
    out.flush();
  }

  /** An answer as text. */
  record Answer(int status, String body) {}

  Answer answer() throws IOException {
    int status = Integer.parseInt(line().split(" ", 3)[1]);
    int length = 0;
    for (String header = line(); !header.isEmpty(); header = line()) {
      if (header.regionMatches(true, 0, "Content-Length:", 0, 15)) {
        length = Integer.parseInt(header.substring(15).strip());
      }
    }
    return new Answer(status, new String(in.readNBytes(length), StandardCharsets.UTF_8));
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder(64);
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the server closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
