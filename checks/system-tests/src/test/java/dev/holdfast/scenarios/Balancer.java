package dev.holdfast.scenarios;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Gives each connection to the next server, as a plain TCP balancer does; skips dead ones. */
final class Balancer implements AutoCloseable {
  private final ServerSocket socket;
  private final List<Integer> ports;
  private final AtomicInteger next = new AtomicInteger();

  Balancer(List<Integer> ports) throws IOException {
    this.ports = List.copyOf(ports);
    this.socket = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  String url() {
    return "http://127.0.0.1:" + socket.getLocalPort();
  }

  private void accept() {
    while (!socket.isClosed()) {
      try {
        Socket client = socket.accept();
        Thread.ofVirtual().start(() -> connect(client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void connect(Socket client) {
    for (int i = 0; i < ports.size(); i++) {
      int port = ports.get(Math.floorMod(next.getAndIncrement(), ports.size()));
      try {
        Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
        Thread.ofVirtual().start(() -> pump(client, server));
        pump(server, client);
        return;
      } catch (IOException dead) {
        // The next one.
      }
    }
    close(client);
  }

  private static void pump(Socket from, Socket to) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      in.transferTo(out);
    } catch (IOException gone) {
      // One end is gone, and so the other is closed.
    }
  }

  private static void close(Socket client) {
    try {
      client.close();
    } catch (IOException alreadyGone) {
      // As wanted.
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
