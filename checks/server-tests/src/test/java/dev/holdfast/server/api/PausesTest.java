package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who has paused queues, schedules and workers, and why. */
public class PausesTest extends ServerTest {
  PausesTest(TestDatabase db) {
    super(db);
  }

  private void schedule() {
    client.put("/v1/schedules/nightly", Map.of("cron", "0 3 * * *", "kind", "k"), null).ok();
  }

  @ParameterizedTest
  @CsvSource({"/v1/queues/work, pause", "/v1/schedules/nightly, pause"})
  void who_paused_it_and_why_is_shown_until_it_is_resumed(String path, String field) {
    schedule();
    String admin = key(Role.ADMIN, null);
    client.post(path + "/pause", Map.of("reason", "deploying"), admin).ok();
    JsonNode pause = client.get(path, admin).ok().get(field);
    assertThat(pause.get("by").asText()).isEqualTo("test");
    assertThat(pause.get("reason").asText()).isEqualTo("deploying");
    assertThat(pause.get("at")).isEqualTo(client.get(path, admin).ok().get("pausedAt"));
    client.post(path + "/pause", Map.of("reason", "again"), admin).ok();
    assertThat(client.get(path, admin).ok().get(field)).isEqualTo(pause);
    client.post(path + "/resume", Map.of("reason", "done"), admin).ok();
    assertThat(client.get(path, admin).ok().get(field).isNull()).isTrue();
    client.post(path + "/pause", admin).ok();
    assertThat(client.get(path, admin).ok().at("/pause/reason").isNull()).isTrue();
  }

  @Test
  void who_paused_all_workers_and_why_is_shown() {
    String admin = key(Role.ADMIN, null);
    assertThat(client.get("/v1/workers", admin).ok().get("workersPause").isNull()).isTrue();
    client.post("/v1/workers/pause", Map.of("reason", "deploying"), admin).ok();
    JsonNode pause = client.get("/v1/workers", admin).ok().get("workersPause");
    assertThat(pause.get("by").asText()).isEqualTo("test");
    assertThat(pause.get("reason").asText()).isEqualTo("deploying");
  }

  @Test
  void a_tenant_is_not_told_who_paused_a_queue() {
    String admin = key(Role.ADMIN, null);
    client.post("/v1/queues/work/pause", Map.of("reason", "for a customer"), admin).ok();
    client.post("/v1/workers/pause", Map.of("reason", "for a customer"), admin).ok();
    String tenant = key(Role.VIEWER, "acme");
    assertThat(client.get("/v1/queues/work", tenant).ok().toString()).doesNotContain("customer");
    assertThat(client.get("/v1/workers", tenant).ok().toString()).doesNotContain("customer");
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/queues/work/pause",
    "/v1/queues/work/resume",
    "/v1/schedules/nightly/pause",
    "/v1/schedules/nightly/resume",
    "/v1/schedules/nightly/run",
    "/v1/workers/pause",
    "/v1/workers/resume"
  })
  void a_body_is_read_and_what_is_not_known_is_refused(String path) {
    schedule();
    client.post(path, Map.of("for", "1h"), null).is(422, "unknown_field");
    client
        .post(path, Map.of("reason", 7), null)
        .is(422, path.endsWith("run") ? "unknown_field" : "invalid_value");
    assertThat(holdfast.admin().pauses()).isEmpty();
    assertThat(holdfast.admin().schedulePauses()).isEmpty();
    assertThat(holdfast.admin().workersPause()).isEmpty();
  }

  @Test
  void an_operator_tells_and_reads_it_through_a_server() {
    schedule();
    String admin = key(Role.ADMIN, null);
    try (HttpOperator operator = new HttpOperator(server.url(), admin)) {
      operator.queues().pause(QUEUE, "deploying");
      operator.schedules().pause("nightly", "deploying");
      operator.workers().pauseAll("deploying");
      assertThat(operator.queues().show(QUEUE).pause())
          .isNotNull()
          .isEqualTo(holdfast.admin().pauses().get(QUEUE));
      assertThat(operator.schedules().find("nightly").orElseThrow().pause())
          .isNotNull()
          .isEqualTo(holdfast.admin().schedulePauses().get("nightly"));
      assertThat(operator.workers().list().workersPause())
          .isEqualTo(holdfast.admin().workersPause().orElse(null))
          .satisfies(pause -> assertThat(pause.reason()).isEqualTo("deploying"));
    }
  }
}
