package dev.holdfast.server.api;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.config.ShownSetting;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Health, readiness and the information for operators. */
public class StatusTest extends ServerTest {
  StatusTest(TestDatabase db) {
    super(db);
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    return options ->
        options.settings(
            List.of(
                new ShownSetting("server.port", "HOLDFAST_SERVER_PORT", "0", "option", "port"),
                new ShownSetting("handlers.clip", "", "ffmpeg -y", "holdfast.yaml", "program")));
  }

  private List<String> problems(String what) {
    List<String> found = new ArrayList<>();
    for (JsonNode problem : client.get("/v1/info", null).ok().get("problems")) {
      assertThat(problem.get("httpHint").asText()).isNotBlank();
      if (problem.get("message").asText().contains(what)) {
        found.add(problem.get("message").asText());
      }
    }
    return found;
  }

  @Test
  void the_server_reports_its_versions_counts_timings_and_problems() {
    enqueued();
    JsonNode info = client.get("/v1/info", null).ok();
    assertThat(info.get("version").asText()).isNotBlank();
    assertThat(info.get("serverTime").asText()).endsWith("Z");
    assertThat(info.get("uptimeMs").asLong()).isNotNegative();
    assertThat(info.get("database").get("version").asText()).isNotBlank();
    assertThat(info.get("database").get("schemaVersion").asLong())
        .isEqualTo(db.count("SELECT max(version) FROM holdfast.schema_version"));
    assertThat(info.get("counts").get("due").asInt()).isEqualTo(1);
    assertThat(info.get("timings").get("heartbeatIntervalMs").asLong()).isEqualTo(30_000);
    assertThat(info.get("problems")).isEmpty();
  }

  @Test
  void the_server_reports_its_configuration() {
    JsonNode settings = client.get("/v1/settings", null).ok().get("settings");
    assertThat(settings).hasSize(2);
    assertThat(settings.get(0).toString())
        .isEqualTo(
            "{\"key\":\"server.port\",\"variable\":\"HOLDFAST_SERVER_PORT\",\"value\":\"0\","
                + "\"origin\":\"option\",\"meaning\":\"port\"}");
    assertThat(settings.get(1).get("variable").isNull()).isTrue();
  }

  @Test
  void due_jobs_that_no_worker_claims_are_a_problem() {
    JobId job = enqueued();
    db.sql("UPDATE holdfast.job SET run_at = now() - interval '1 hour'");
    assertThat(problems("no worker claims it")).hasSize(1);
    leased();
    holdfast.enqueue(Job.of("echo").queue(QUEUE));
    db.sql("UPDATE holdfast.job SET run_at = now() - interval '1 hour' WHERE id <> ?", job.value());
    assertThat(problems("no worker claims it")).isEmpty();
  }

  @Test
  void jobs_in_a_paused_queue_are_a_problem() {
    enqueued();
    client.post("/v1/queues/work/pause", null).ok();
    assertThat(problems("'work' is paused and 1 job waits")).hasSize(1);
    client.post("/v1/queues/work/resume", null).ok();
    assertThat(problems("paused")).isEmpty();
  }

  @Test
  void recently_failed_jobs_are_a_problem_only_for_their_tenant() {
    JobId job = enqueued();
    db.sql(
        "UPDATE holdfast.job SET state = 'FAILED', finished_at = now() - interval '5 minutes'"
            + " WHERE id = ?",
        job.value());
    assertThat(problems("1 job failed within the last hour")).hasSize(1);
    db.sql("UPDATE holdfast.job SET finished_at = now() - interval '2 hours'");
    assertThat(problems("failed")).isEmpty();

    db.sql("UPDATE holdfast.job SET finished_at = now()");
    String other = key(Role.VIEWER, "other");
    assertThat(client.get("/v1/info", other).ok().get("problems")).isEmpty();
    String all = key(Role.VIEWER, null);
    assertThat(client.get("/v1/info", all).ok().get("problems")).hasSize(1);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void health_uses_no_database_and_ready_does() {
    try (FaultProxy proxy = FaultProxy.before(db);
        Holdfast behind = Holdfast.on(db.dataSource(proxy, 10));
        HoldfastServer another = HoldfastServer.start(behind, ServerOptions.DEFAULT.port(0))) {
      Client there = new Client(another.url());
      assertThat(there.get("/ready", null).ok().get("status").asText()).isEqualTo("ready");
      proxy.cut();
      await().atMost(SOON).untilAsserted(() -> there.get("/ready", null).is(503, "not_ready"));
      assertThat(there.get("/health", null).ok().get("status").asText()).isEqualTo("up");
      there.get("/v1/jobs", null).is(503, "database_unavailable");
      proxy.mend();
      await()
          .atMost(SOON)
          .untilAsserted(() -> assertThat(there.get("/ready", null).status()).isEqualTo(200));
    }
  }

  @Test
  void a_server_with_an_incompatible_schema_is_not_ready() {
    client.get("/ready", null).ok();
    db.sql("UPDATE holdfast.schema_version SET version = 999 WHERE version = 1");
    // During an upgrade, and until a migration takes away what this server needs.
    client.get("/ready", null).ok();
    db.sql("UPDATE holdfast.schema_compatibility SET oldest_version = 999");
    await().atMost(SOON).untilAsserted(() -> client.get("/ready", null).is(503, "not_ready"));
  }

  @Test
  void a_hanging_readiness_check_times_out_and_is_not_started_twice() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    AtomicInteger looks = new AtomicInteger();
    Readiness readiness =
        new Readiness(
            () -> {
              looks.incrementAndGet();
              try {
                end.await();
              } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
              }
            },
            Duration.ofMillis(50));
    assertThat(readiness.isReady()).isFalse();
    assertThat(readiness.isReady()).isFalse();
    assertThat(looks).hasValue(1);
    end.countDown();
    await().atMost(SOON).until(readiness::isReady);
  }
}
