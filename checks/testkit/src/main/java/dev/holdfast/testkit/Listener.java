package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A port on the loopback address that can be closed and opened again. */
final class Listener {
  private static final int BACKLOG = 128;
  // Below the range of outgoing connections, one of which might take the port while it is closed.
  private static final int FIRST = 30_000;
  private static final int COUNT = 2_700;
  private static final int TRIES = 100;
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final Consumer<Socket> handler;
  private @Nullable ServerSocket socket;
  private int port;

  Listener(Consumer<Socket> handler) {
    this.handler = handler;
  }

  synchronized int port() {
    return port;
  }

  synchronized boolean isOpen() {
    return socket != null && !socket.isClosed();
  }

  /** At the port it had before, if it was open before. */
  synchronized void open() {
    if (isOpen()) {
      return;
    }
    try {
      ServerSocket opened = port == 0 ? bindAnywhere() : bindAgain(port);
      port = opened.getLocalPort();
      socket = opened;
      Thread.ofVirtual().name("listener-" + port).start(() -> accept(opened));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  synchronized void close() {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void accept(ServerSocket from) {
    while (!from.isClosed()) {
      try {
        handler.accept(from.accept());
      } catch (IOException e) {
        // Closed, or a client that gave up; the loop's condition tells which.
      }
    }
  }

  private static ServerSocket bindAnywhere() throws IOException {
    for (int i = 0; i < TRIES; i++) {
      try {
        return bind(FIRST + ThreadLocalRandom.current().nextInt(COUNT));
      } catch (IOException e) {
        // Taken; there are more.
      }
    }
    return bind(0);
  }

  /** What was closed is let go of when the thread that waits in it has noticed, and no sooner. */
  private static ServerSocket bindAgain(int port) throws IOException {
    for (int i = 1; ; i++) {
      try {
        return bind(port);
      } catch (BindException stillTaken) {
        if (i == TRIES) {
          throw stillTaken;
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  private static ServerSocket bind(int port) throws IOException {
    ServerSocket socket = new ServerSocket();
    try {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }
}
