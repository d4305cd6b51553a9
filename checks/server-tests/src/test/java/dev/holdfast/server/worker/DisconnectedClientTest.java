package dev.holdfast.server.worker;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.JobId;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that disconnect while they wait for a task, or that wait and then send more requests. */
public class DisconnectedClientTest extends ServerTest {
  private static final int WAIT_MS = 60_000;
  private static final String LEASE = "/v1/queues/" + QUEUE + "/lease";
  private static final String WAIT = "/v1/queues/wait";

  DisconnectedClientTest(TestDatabase db) {
    super(db);
  }

  private Socket polling(String worker) throws IOException {
    return asking(worker, LEASE);
  }

  private Socket asking(String worker, String route) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.url().getPort());
    socket.setSoTimeout((int) SOON.toMillis());
    poll(socket, worker, route);
    return socket;
  }

  private static void poll(Socket socket, String worker, String route) throws IOException {
    String queues = route.equals(WAIT) ? "\"queues\":[\"%s\"],".formatted(QUEUE) : "";
    String body = "{\"workerId\":\"%s\",%s\"waitMs\":%d}".formatted(worker, queues, WAIT_MS);
    String head =
        "POST %s HTTP/1.1\r\nHost: localhost\r\n".formatted(route)
            + "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                .formatted(body.length());
    socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
  }

  private void awaitWaiting(int workers) {
    // Far less than the clients wait.
    await()
        .atMost(Duration.ofMillis(WAIT_MS / 2))
        .until(() -> metric("server_waiting_workers") == workers);
  }

  @Test
  void a_disconnected_client_gets_no_task() throws IOException {
    Socket abandoned = polling("gone");
    awaitWaiting(1);
    abandoned.close();
    awaitWaiting(0);
    JobId job = enqueued();
    JsonNode task =
        client
            .post(
                "/v1/queues/" + QUEUE + "/lease", Map.of("workerId", "w1", "waitMs", WAIT_MS), null)
            .ok()
            .at("/tasks/0");
    assertThat(task.get("taskId").asText()).isEqualTo(job.toString());
    assertThat(task.get("attempt").asInt()).isEqualTo(1);
  }

  /** The server wakes a worker for each queue whose notifications it begins to hear. */
  private void startListening() {
    Map<String, Object> wait =
        Map.of("workerId", "first", "queues", List.of(QUEUE), "waitMs", 10_000);
    client.post(WAIT, wait, null).ok();
    client.post(LEASE, Map.of("workerId", "first", "leaseMs", 30_000), null).ok();
  }

  private List<String> listed() {
    return client
        .get("/v1/workers", null)
        .ok()
        .get("workers")
        .valueStream()
        .filter(each -> each.get("queues").get(0).asText().equals(QUEUE))
        .map(each -> each.get("workerId").asText())
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {LEASE, WAIT})
  void a_worker_that_waits_for_tasks_is_listed_and_one_that_closed_the_connection_is_not(
      String route) throws IOException {
    startListening();
    Socket killed = asking("killed", route);
    try (Socket waiting = asking("here", route)) {
      assertThat(waiting.isConnected()).isTrue();
      await().atMost(SOON).until(() -> listed().containsAll(List.of("here", "killed")));
      killed.close();
      // Far sooner than after the twenty seconds that one has whose request was answered.
      await().atMost(Duration.ofSeconds(15)).until(() -> !listed().contains("killed"));
      assertThat(listed()).contains("here");
    }
  }

  @Test
  void a_worker_that_was_woken_is_gone_unless_it_asks_again() throws IOException {
    startListening();
    try (Socket waiting = asking("woken", WAIT)) {
      await().atMost(SOON).until(() -> listed().contains("woken"));
      enqueued();
      assertThat(answer(waiting)).contains(QUEUE);
    }
    // It is not expected for as long as it would have waited.
    await()
        .atMost(SOON)
        .until(
            () ->
                db.queryOne(
                    Boolean.class,
                    "SELECT expires_at < asked_at + interval '25 seconds' FROM holdfast.worker_poll"
                        + " WHERE worker_id = 'woken'"));
  }

  @Test
  void the_next_client_in_line_gets_the_task() throws IOException {
    Socket abandoned = polling("gone");
    awaitWaiting(1);
    try (Socket waiting = polling("here")) {
      awaitWaiting(2);
      abandoned.close();
      awaitWaiting(1);
      enqueued();
      assertThat(answer(waiting)).contains("\"attempt\":1,");
    }
  }

  @Test
  void a_connection_serves_its_next_request_after_a_wait() throws IOException {
    try (Socket waiting = polling("here")) {
      for (int attempt = 1; attempt <= 3; attempt++) {
        awaitWaiting(1);
        JobId job = enqueued();
        assertThat(answer(waiting)).contains(job.toString());
        poll(waiting, "here", LEASE);
      }
    }
  }

  /** One answer, whose length its headers say. */
  private static String answer(Socket socket) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = socket.getInputStream().read();
      assertThat(next).as(head.toString()).isNotNegative();
      head.append((char) next);
    }
    Matcher length = Pattern.compile("(?i)content-length: (\\d+)").matcher(head);
    assertThat(length.find()).as(head.toString()).isTrue();
    return new String(
        socket.getInputStream().readNBytes(Integer.parseInt(length.group(1))),
        StandardCharsets.UTF_8);
  }
}
