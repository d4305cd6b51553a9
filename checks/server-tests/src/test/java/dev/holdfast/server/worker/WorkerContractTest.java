package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.Soon;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The requests and answers that docs/worker-contract.md shows. */
public class WorkerContractTest extends ServerTest {
  WorkerContractTest(TestDatabase db) {
    super(db);
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    return options -> options.dispatchTo(Set.of("worker.example"));
  }

  private static String page(String name) throws IOException {
    try (InputStream in =
        WorkerContractTest.class.getResourceAsStream("/worker-contract/" + name)) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static JsonNode json(String text) {
    return Wire.tree(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Sends the documented request, with a bearer token unless it has one. */
  private Client.Reply send(String name, String place, String value, String bearer)
      throws IOException {
    String request = page(name).replace(place, value);
    String[] line = request.lines().findFirst().orElseThrow().split(" ", 2);
    JsonNode body = json(request.substring(request.indexOf("\n{")));
    return line[0].equals("PUT")
        ? client.put(line[1], body, bearer)
        : client.post(line[1], body, bearer);
  }

  private Client.Reply callback(String name, JsonNode task) throws IOException {
    return send(name, "{taskId}", task.get("taskId").asText(), task.get("taskToken").asText());
  }

  private static JobId id(JsonNode task) {
    return JobId.parse(task.get("taskId").asText());
  }

  /** Names and types, without values. */
  private static Object shape(JsonNode node) {
    Map<String, Object> shape = new TreeMap<>();
    node.properties().forEach(field -> shape.put(field.getKey(), shape(field.getValue())));
    return node.isObject() ? shape : node.getNodeType();
  }

  @Test
  void a_task_runs_from_its_lease_to_its_completion() throws IOException {
    enqueued();
    assertThat(page("lease.http")).contains("Authorization: Bearer <API key of role worker>");
    String key = key(Role.WORKER, null);
    JsonNode task = send("lease.http", "{queue}", QUEUE, key).ok().get("tasks").get(0);
    assertThat(callback("started.http", task).ok().get("acknowledged").asBoolean()).isTrue();

    JsonNode answer = callback("heartbeat.http", task).ok();
    assertThat(shape(answer)).isEqualTo(shape(json(page("heartbeat-answer.json"))));
    JobStatus running = holdfast.find(id(task)).orElseThrow();
    assertThat(running.progress()).isEqualTo(45);
    assertThat(running.progressMessage()).isEqualTo("partition 5 of 10");

    for (int i = 0; i < 2; i++) {
      callback("log.http", task).ok();
      assertThat(holdfast.queries().log(id(task), LogCursor.START).parts())
          .extracting(LogTail.Part::text)
          .containsExactly("partition 5 of 10\n1000000 rows so far\n");
    }

    callback("event.http", task).ok();
    assertThat(holdfast.queries().timeline(id(task)))
        .anyMatch(event -> event.type().equals("encoded"));

    JsonNode completed = callback("completed.http", task).ok();
    assertThat(completed.get("acknowledged").asBoolean()).isTrue();
    assertThat(completed.get("finalState").asText()).isEqualTo("SUCCEEDED");
    assertThat(completed.has("serverTime")).isTrue();
    assertThat(String.valueOf(holdfast.find(id(task)).orElseThrow().result()))
        .isEqualTo("{\"rowCount\": 1000000}");
    assertThat(callback("completed.http", task).ok().get("finalState").asText())
        .as("the same completion again gets the same answer")
        .isEqualTo("SUCCEEDED");
  }

  @Test
  void a_task_starts_jobs_and_waits() throws IOException {
    enqueued();
    JsonNode task = leased();
    assertThat(callback("children.http", task).ok().get("jobs")).hasSize(2);
    assertThat(callback("wait.http", task).ok().get("outcome").asText()).isEqualTo("SUSPENDED");
    assertThat(holdfast.find(id(task)).orElseThrow().state()).isEqualTo(JobState.WAITING);
  }

  @Test
  void a_failure_sets_the_time_of_its_retry() throws IOException {
    enqueued();
    JsonNode task = leased();
    assertThat(callback("failed.http", task).ok().get("finalState").asText()).isEqualTo("RETRYING");
    JobStatus job = holdfast.find(id(task)).orElseThrow();
    assertThat(Objects.requireNonNull(job.failure()).code()).isEqualTo("MISSING_COLUMN");
    assertThat(job.runAt())
        .isCloseTo(holdfast.queries().now().plus(Duration.ofMinutes(1)), within(Soon.STANDSTILL));
  }

  @Test
  void a_command_of_an_operator_comes_with_the_heartbeat() throws IOException {
    enqueued();
    JsonNode task = leased();
    client
        .put(
            "/v1/tasks/" + id(task) + "/steps/load",
            Map.of("attempt", 1, "stepIndex", 1, "state", "RUNNING", "stepAttempt", 1),
            task.get("taskToken").asText())
        .ok();
    JobCommand ask =
        new JobCommand(CommandAction.RETRY_STEP, "load", "ada", "the database is back");
    assertThat(holdfast.jobs().command(id(task), ask, Tenant.ANY).answer())
        .isEqualTo(JobCommand.Answer.ACCEPTED);
    JsonNode shown = json(page("live-control.json"));
    JsonNode heard = callback("heartbeat.http", task).ok();
    assertThat(shape(heard.get("liveControl"))).isEqualTo(shape(shown.get("liveControl")));
    for (String field : Set.of("action", "stepId", "strategy", "requestedBy", "reason")) {
      assertThat(heard.at("/liveControl/recovery/" + field))
          .isEqualTo(shown.at("/liveControl/recovery/" + field));
    }
  }

  @Test
  void a_queue_gets_a_dispatch_url() throws IOException {
    String key = key(Role.ADMIN, null);
    Client.Reply reply = send("dispatch.http", "{queue}", "pushed", key);
    assertThat(reply.status()).as(reply.body().toString()).isBetween(200, 204);
    assertThat(holdfast.admin().dispatches())
        .singleElement()
        .returns("pushed", Dispatch::queue)
        .returns(10, Dispatch::maxInFlight);
  }
}
