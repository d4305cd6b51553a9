package dev.holdfast.server;

import java.net.URI;

/** A server that a test has started, in this process or in one of its own. */
public record RunningServer(URI url, Runnable stop) implements AutoCloseable {
  public static RunningServer of(HoldfastServer server) {
    return new RunningServer(server.url(), server::close);
  }

  @Override
  public void close() {
    stop.run();
  }
}
