package dev.holdfast.server.auth;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.Admin;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.live.LiveStream;
import dev.holdfast.testkit.TestDatabase;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A key that is no longer good is good for nothing, also in requests that began before. */
public class RevokedKeysTest extends ServerTest {
  private static final int WAIT_MS = 55_000;
  private static final long LATEST_MS = 5_000;

  /** How a key comes to its end, by another server or by itself: this server is not told. */
  enum End {
    REVOKED {
      @Override
      void of(Admin admin, TestDatabase db, String id) {
        assertThat(admin.revokeKey(id, Duration.ZERO)).isTrue();
      }
    },
    ROTATED {
      @Override
      void of(Admin admin, TestDatabase db, String id) {
        Secrets.Parts fresh = Secrets.next();
        assertThat(admin.rotateKey(id, fresh.id(), fresh.digest(), Duration.ZERO)).isPresent();
      }
    },
    EXPIRED {
      @Override
      void of(Admin admin, TestDatabase db, String id) {
        db.sql("UPDATE holdfast.api_key SET expires_at = clock_timestamp() WHERE id = ?", id);
      }
    };

    abstract void of(Admin admin, TestDatabase db, String id);
  }

  private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
  private final Secrets.Parts key = Secrets.next();
  private final Admin admin;

  RevokedKeysTest(TestDatabase db) {
    super(db);
    admin = holdfast.store().admin();
  }

  @AfterEach
  void stopWorkers() {
    workers.shutdownNow();
  }

  private void create(Role role) {
    admin.createKey(
        new ApiKey(key.id(), "test", role, null, Instant.EPOCH, null, null), key.digest(), null);
  }

  private HttpRequest.Builder lease() {
    return client
        .request("/v1/queues/" + QUEUE + "/lease", null)
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString("{\"workerId\": \"w1\", \"waitMs\": %d}".formatted(WAIT_MS)));
  }

  /** A request for a task that waits at the server. */
  private CompletableFuture<Client.Reply> waiting(HttpRequest.Builder request) {
    CompletableFuture<Client.Reply> reply =
        CompletableFuture.supplyAsync(() -> client.send(request), workers);
    await().atMost(SOON).until(() -> isWaiting() || reply.isDone());
    assertThat(reply).isNotDone();
    return reply;
  }

  private boolean isWaiting() {
    String metrics = client.get("/metrics", key(Role.ADMIN, null)).body().get("text").asText();
    return metrics.lines().anyMatch(line -> line.matches("server_waiting_workers(\\{.*})? 1\\.0"));
  }

  private void assertNothingIsHandedOut(CompletableFuture<Client.Reply> poll, End end) {
    end.of(admin, db, key.id());
    JobId job = holdfast.enqueue(Job.of("echo").queue(QUEUE)).id();
    poll.join().is(401, "key_invalid");
    JobStatus status = holdfast.queries().find(job).orElseThrow();
    assertThat(status.failures() + status.crashes()).isZero();
    JsonNode task =
        client
            .post(
                "/v1/queues/" + QUEUE + "/lease", Map.of("workerId", "w2"), key(Role.WORKER, null))
            .ok()
            .at("/tasks/0");
    assertThat(task.get("taskId").asText()).isEqualTo(job.toString());
  }

  @ParameterizedTest
  @EnumSource
  void a_waiting_request_gets_no_task_with_a_key_that_has_ended(End end) {
    create(Role.WORKER);
    assertNothingIsHandedOut(waiting(lease().header("Authorization", "Bearer " + key.text())), end);
  }

  @ParameterizedTest
  @EnumSource
  void a_waiting_request_gets_no_task_with_the_session_of_a_key_that_has_ended(End end) {
    create(Role.ADMIN);
    assertNothingIsHandedOut(
        waiting(lease().header("Cookie", cookie()).header("Origin", server.url().toString())), end);
  }

  private String cookie() {
    Client.Reply in = client.post("/v1/session", Map.of("key", key.text()), null);
    return in.response().headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
  }

  @ParameterizedTest
  @EnumSource
  void a_stream_ends_at_every_server_soon_after_its_key(End end) throws Exception {
    create(Role.ADMIN);
    String cookie = cookie();
    try (Holdfast other = Holdfast.on(db.dataSource());
        HoldfastServer second = started(other, ServerOptions.DEFAULT.port(0));
        LiveStream byKey = LiveStream.open(server.url(), "?topics=system:health", key.text());
        LiveStream elsewhere = LiveStream.open(second.url(), "?topics=system:health", key.text());
        LiveStream byCookie =
            LiveStream.withCookie(server.url(), "?topics=system:health", cookie)) {
      byKey.next("system:health");
      elsewhere.next("system:health");
      byCookie.next("system:health");
      long began = System.nanoTime();
      end.of(admin, db, key.id());
      byKey.awaitEnd();
      elsewhere.awaitEnd();
      byCookie.awaitEnd();
      // Two seconds, and what a busy machine needs.
      assertThat(Duration.ofNanos(System.nanoTime() - began).toMillis()).isLessThan(LATEST_MS);
    }
  }
}
