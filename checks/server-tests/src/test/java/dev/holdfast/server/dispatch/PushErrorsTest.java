package dev.holdfast.server.dispatch;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.server.Client;
import dev.holdfast.testkit.TestDatabase;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Workers that cannot be reached, refuse the secret or may not be called. */
public class PushErrorsTest extends PushFixture {
  PushErrorsTest(TestDatabase db) {
    super(db);
  }

  @Override
  Duration answerWithin() {
    return Duration.ofSeconds(1);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_late_callback_of_a_pushed_task_that_was_never_started_gets_the_reason()
      throws InterruptedException {
    BlockingQueue<JsonNode> taken = new LinkedBlockingQueue<>();
    CountDownLatch end = new CountDownLatch(1);
    before =
        task -> {
          taken.add(task);
          waitFor(end);
          return true;
        };
    dispatch(1);
    JobId job = enqueued();
    JsonNode task = Objects.requireNonNull(taken.poll(SOON.toSeconds(), TimeUnit.SECONDS));
    await().atMost(SOON).until(() -> state(job).equals("PENDING"));
    Client.Reply late = callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w9"));
    late.is(410, "task_expired");
    assertThat(late.body().get("reason").asText()).isEqualTo("DISPATCH_FAILED");
    assertThat(late.body().get("message").asText()).doesNotContain("heartbeat timeout");
    end.countDown();
    assertThat(holdfast.find(job).orElseThrow().crashes()).isZero();
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void an_unreachable_worker_is_reported_until_it_is_reachable() throws InterruptedException {
    status = 503;
    dispatch(10);
    enqueued();
    await().atMost(SOON).until(() -> problems().contains("dispatch_failing"));
    assertThat(problems()).contains("status 503").doesNotContain("start a worker");
    status = 200;
    pushed();
    await().atMost(SOON).until(() -> !problems().contains("dispatch_"));
    InetSocketAddress gone = worker.getAddress();
    worker.stop(0);
    enqueued();
    await().atMost(SOON).until(() -> problems().contains("dispatch_unreachable"));
    assertThat(problems())
        .contains("the connection is refused")
        .doesNotContain(gone.getHostString());
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_rejected_secret_is_reported_and_fails_only_a_few_tasks() throws InterruptedException {
    status = 401;
    for (int i = 0; i < 30; i++) {
      enqueued();
    }
    dispatch(1);
    await()
        .atMost(SOON)
        .until(
            () ->
                problems().contains("dispatch_secret_refused")
                    && problems().contains("circuit breaker"));
    assertThat(db.queryOne(Long.class, "SELECT count(*) FROM holdfast.job WHERE state = 'FAILED'"))
        .isLessThan(20L);
    // With another secret, pushes continue at once.
    status = 200;
    dispatch(2);
    pushed();
    await().atMost(SOON).until(() -> !problems().contains("dispatch_"));
  }

  @Test
  void redirects_are_not_followed() {
    status = 307;
    dispatch(1);
    enqueued();
    await().atMost(SOON).until(() -> asked.get() >= 3);
    assertThat(received).isEmpty();
  }

  @Test
  void a_host_that_is_not_on_the_allow_list_is_never_called() {
    holdfast
        .admin()
        .dispatch(
            new Dispatch(
                QUEUE,
                URI.create("http://localhost:" + worker.getAddress().getPort() + "/tasks"),
                SECRET,
                1));
    JobId job = enqueued();
    await()
        .during(Duration.ofSeconds(2))
        .atMost(SOON)
        .until(() -> asked.get() == 0 && state(job).equals("PENDING"));
    assertThat(problems()).contains("dispatch_not_allowed", "HOLDFAST_DISPATCH_ALLOW");
  }

  @Test
  void the_allow_list_matches_hosts_and_ports_and_only_http() {
    DispatchAllowList list = new DispatchAllowList(Set.of("Worker.example", "10.0.0.1:8080"));
    for (String url :
        List.of("http://worker.example/x", "https://WORKER.example:99/", "http://10.0.0.1:8080/")) {
      assertThat(list.allows(URI.create(url))).as(url).isTrue();
    }
    for (String url :
        List.of(
            "http://10.0.0.1/",
            "http://other.example/",
            "ftp://worker.example/",
            "file:///etc/passwd",
            "http://me@worker.example/",
            "http://worker.example/#x",
            "http://worker.example.evil/",
            "worker.example")) {
      assertThat(list.allows(URI.create(url))).as(url).isFalse();
    }
  }
}
