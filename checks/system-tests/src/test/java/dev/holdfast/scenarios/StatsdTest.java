package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithRelease;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Sending metrics causes neither warnings of the Java runtime nor failures. */
@OnlyWithRelease
@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class StatsdTest {
  private final World world;

  StatsdTest(World world) {
    this.world = world;
  }

  @Test
  void a_worker_and_a_server_send_their_metrics_without_a_warning() throws Exception {
    try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      String target = "127.0.0.1:" + socket.getLocalPort();
      assertQuiet(world.worker().env("HOLDFAST_METRICS_STATSD", target).start(), socket, "worker.");
      assertQuiet(
          world.launch("server").env("HOLDFAST_METRICS_STATSD", target).start(), socket, "server.");
    }
  }

  @Test
  void jobs_run_while_the_statsd_target_is_unreachable() throws Exception {
    String nobody;
    try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      nobody = "127.0.0.1:" + socket.getLocalPort();
    }
    for (String target : new String[] {nobody, "no-such-host.invalid:8125"}) {
      ChildProcess worker = world.worker().env("HOLDFAST_METRICS_STATSD", target).start();
      world.await(world.enqueue("clock", Map.of()), JobState.SUCCEEDED);
      end(worker);
    }
  }

  private static void assertQuiet(ChildProcess process, DatagramSocket socket, String prefix)
      throws IOException {
    socket.setSoTimeout((int) SOON.toMillis());
    String heard;
    do {
      DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
      socket.receive(packet);
      heard = new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8);
    } while (!heard.lines().anyMatch(line -> line.startsWith(prefix)));
    end(process);
  }

  private static void end(ChildProcess process) {
    process.signal("TERM");
    process.awaitExit(SOON);
    assertThat(process.lines())
        .noneMatch(line -> line.contains("WARN") || line.contains("ERROR"))
        .noneMatch(line -> line.contains("Unsafe") || line.contains("Exception"));
  }
}
