package dev.holdfast.server.metrics;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.steps.StepLoop;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a process sends to a StatsD receiver. */
class StatsdTest {
  private static final Map<String, String> TAGS =
      Map.of("class", "none", "strategy", "none", "outcome", "done");

  @Test
  void each_duration_is_sent_by_itself_and_not_as_a_mean() throws IOException {
    try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        ServerMetrics metrics =
            new ServerMetrics(new ServerOptions.Statsd("127.0.0.1", socket.getLocalPort()))) {
      Metrics worker = new Metrics();
      metrics.addWorker(worker);
      String heard =
          heard(
              socket,
              List.of(
                  "task.step.duration_seconds:10|ms|#class:none,outcome:done,strategy:none",
                  "task.step.duration_seconds:500|ms|",
                  "worker.run:20|ms",
                  "worker.run:3000|ms"),
              () -> {
                worker.time(StepLoop.DURATION, TAGS, Duration.ofMillis(10));
                worker.time(StepLoop.DURATION, TAGS, Duration.ofMillis(500));
                worker.time(Metrics.RUN_TIME, Duration.ofMillis(20));
                worker.time(Metrics.RUN_TIME, Duration.ofMillis(3_000));
              });
      assertThat(heard).doesNotContain("duration_seconds:255", "worker.run:1510");
    }
  }

  @Test
  void jobs_that_a_supervisor_recovered_are_sent() throws IOException {
    try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        ServerMetrics metrics =
            new ServerMetrics(new ServerOptions.Statsd("127.0.0.1", socket.getLocalPort()))) {
      AtomicInteger recovered = new AtomicInteger();
      String name = Metrics.RECOVERED + "{reason=\"crashed\"}";
      metrics.send(() -> Map.of(name, (double) recovered.get()));
      String heard =
          heard(
              socket,
              List.of("worker.recovered_jobs_total:"),
              () -> {
                recovered.incrementAndGet();
                metrics.refresh();
              });
      assertThat(heard).contains("reason:crashed");
    }
  }

  /** Again and again: what is counted before the sender is ready is not sent. */
  private static String heard(DatagramSocket socket, List<String> expected, Runnable action)
      throws IOException {
    socket.setSoTimeout(500);
    StringBuilder heard = new StringBuilder();
    long end = System.nanoTime() + SOON.toNanos();
    while (!expected.stream().allMatch(heard.toString()::contains)) {
      assertThat(System.nanoTime() - end).as("heard only: %s", heard).isNegative();
      action.run();
      DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
      try {
        socket.receive(packet);
        heard
            .append(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8))
            .append('\n');
      } catch (SocketTimeoutException silence) {
        // The next times may be heard.
      }
    }
    return heard.toString();
  }
}
