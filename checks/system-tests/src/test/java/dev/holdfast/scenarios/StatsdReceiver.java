package dev.holdfast.scenarios;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Hears which counts of one metric processes send to StatsD. */
final class StatsdReceiver implements AutoCloseable {
  private final DatagramSocket socket;
  private final String metric;
  private final Set<String> heard = ConcurrentHashMap.newKeySet();

  StatsdReceiver(String metric) throws IOException {
    this.metric = metric;
    this.socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("statsd").start(this::receive);
  }

  /** For HOLDFAST_METRICS_STATSD. */
  String target() {
    return "127.0.0.1:" + socket.getLocalPort();
  }

  boolean hears(String tag) {
    return heard.stream().anyMatch(line -> line.contains(tag));
  }

  private void receive() {
    DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
    while (!socket.isClosed()) {
      try {
        packet.setLength(65_536);
        socket.receive(packet);
        new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8)
            .lines()
            .filter(line -> line.startsWith(metric + ":"))
            .forEach(heard::add);
      } catch (IOException failed) {
        if (!socket.isClosed()) {
          throw new UncheckedIOException(failed);
        }
      }
    }
  }

  @Override
  public void close() {
    socket.close();
  }
}
