package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Files and events of workers in any language, by task token and in the protocol of leases. */
public class UploadsTest extends ServerTest {
  private static final byte[] CONTENT = "a;b\n1;2\n".getBytes(StandardCharsets.UTF_8);

  private @Nullable Path folder;

  UploadsTest(TestDatabase db) {
    super(db);
  }

  @Override
  protected UnaryOperator<ServerOptions> options() {
    return options -> options.artifacts(folder());
  }

  /** Called by the constructor of the super class. */
  private Path folder() {
    Path made = folder;
    if (made == null) {
      try {
        made = Files.createTempDirectory("uploads");
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
      folder = made;
    }
    return made;
  }

  @AfterEach
  void delete() throws IOException {
    try (Stream<Path> all = Files.walk(folder())) {
      for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(each);
      }
    }
  }

  private Client.Reply upload(String path, @Nullable String bearer) {
    return client.send(
        client
            .request(path, bearer)
            .header("Content-Type", "application/octet-stream")
            .PUT(BodyPublishers.ofByteArray(CONTENT)));
  }

  private static String ofTask(JsonNode task, String name) {
    return "/v1/tasks/%s/artifacts/%s?attempt=%d"
        .formatted(task.get("taskId").asText(), name, task.get("attempt").asInt());
  }

  private static String ofLease(JsonNode task, String name, String worker) {
    return "/v1/leases/artifacts/%s?taskId=%s&attempt=%d&workerId=%s"
        .formatted(name, task.get("taskId").asText(), task.get("attempt").asInt(), worker);
  }

  private String downloaded(JsonNode task, String name) {
    return client
        .get("/v1/jobs/%s/artifacts/%s".formatted(task.get("taskId").asText(), name), null)
        .response()
        .body();
  }

  @Test
  void a_file_is_published_by_the_token_of_its_task() {
    enqueued();
    JsonNode task = leased();
    String token = task.get("taskToken").asText();
    for (int time = 1; time <= 2; time++) {
      JsonNode answer = upload(ofTask(task, "rows.csv"), token).ok();
      assertThat(answer.get("ack").asText()).isEqualTo("ACCEPTED");
      assertThat(answer.get("size").asInt()).isEqualTo(CONTENT.length);
    }
    assertThat(downloaded(task, "rows.csv")).isEqualTo("a;b\n1;2\n");
    JsonNode timeline =
        client.get("/v1/jobs/" + task.get("taskId").asText() + "/timeline", null).ok();
    assertThat(timeline.get("events").findValuesAsText("type"))
        .filteredOn("uploaded"::equals)
        .hasSize(1);
  }

  @Test
  void a_file_is_published_by_the_worker_that_holds_the_lease_and_by_no_other() {
    enqueued();
    JsonNode task = leased();
    assertThat(upload(ofLease(task, "rows.csv", "w1"), null).ok().get("ack").asText())
        .isEqualTo("ACCEPTED");
    assertThat(upload(ofLease(task, "rows.csv", "w2"), null).ok().get("ack").asText())
        .isEqualTo("LEASE_LOST");
    assertThat(downloaded(task, "rows.csv")).isEqualTo("a;b\n1;2\n");
  }

  @Test
  void a_worker_of_another_tenant_writes_nothing() throws IOException {
    holdfast.enqueue(Job.of("echo").queue(QUEUE).owner("acme", "w"));
    JsonNode task = leased();
    String key = key(Role.WORKER, "other");
    assertThat(upload(ofLease(task, "rows.csv", "w1"), key).ok().get("ack").asText())
        .isEqualTo("LEASE_LOST");
    try (Stream<Path> all = Files.walk(folder())) {
      assertThat(all.filter(Files::isRegularFile)).isEmpty();
    }
  }

  @Test
  void an_attempt_that_has_ended_cannot_publish() {
    enqueued();
    JsonNode task = leased();
    callback(task, "completed", Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED"))
        .ok();
    upload(ofTask(task, "rows.csv"), task.get("taskToken").asText())
        .is(409, "task_already_terminal");
    assertThat(upload(ofLease(task, "rows.csv", "w1"), null).ok().get("ack").asText())
        .isEqualTo("LEASE_LOST");
    assertThat(downloaded(task, "rows.csv")).contains("not_found");
  }

  @Test
  void a_file_that_is_too_large_is_refused_and_leaves_nothing_behind() throws IOException {
    enqueued();
    JsonNode task = leased();
    byte[] piece = new byte[1 << 20];
    client
        .send(
            client
                .request(ofTask(task, "rows.csv"), task.get("taskToken").asText())
                .header("Content-Type", "application/octet-stream")
                .PUT(BodyPublishers.ofByteArrays(Collections.nCopies(65, piece))))
        .is(413, "body_too_large");
    try (Stream<Path> all = Files.walk(folder())) {
      assertThat(all.filter(Files::isRegularFile)).isEmpty();
    }
    assertThat(downloaded(task, "rows.csv")).contains("not_found");
  }

  @Test
  void names_that_lead_outside_the_folder_are_rejected() {
    enqueued();
    JsonNode task = leased();
    String token = task.get("taskToken").asText();
    for (String name : List.of(".hidden", "..", "a%2Fb", "%5C")) {
      assertThat(upload(ofTask(task, name), token).status()).as(name).isBetween(400, 422);
    }
  }

  @Test
  void an_unwritable_store_is_answered_as_retryable_and_a_missing_one_is_named()
      throws IOException {
    enqueued();
    JsonNode task = leased();
    String token = task.get("taskToken").asText();
    Files.writeString(folder().resolve("results"), "in the way");
    Client.Reply failed = upload(ofTask(task, "rows.csv"), token).is(503, "artifact_store_failed");
    assertThat(failed.response().headers().firstValue("Retry-After")).hasValue("5");
    try (HoldfastServer other = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0))) {
      Client there = new Client(other.url());
      there
          .send(
              there
                  .request(ofTask(task, "rows.csv"), token)
                  .header("Content-Type", "application/octet-stream")
                  .PUT(BodyPublishers.ofByteArray(CONTENT)))
          .is(422, "no_artifact_store");
    }
  }

  @Test
  void an_event_is_in_the_timeline() {
    enqueued();
    JsonNode task = leased();
    Map<String, Object> event =
        Map.of("attempt", 1, "type", "encoded", "data", Map.of("frames", 500));
    callback(task, "event", event).ok();
    callback(task, "event", Map.of("attempt", 1, "type", "plain")).ok();
    callback(task, "event", Map.of("attempt", 1, "type", "done")).is(422, "bad_name");
    JsonNode events =
        client
            .get("/v1/jobs/" + task.get("taskId").asText() + "/timeline", null)
            .ok()
            .get("events");
    assertThat(events.findValuesAsText("type")).contains("encoded", "plain");
    assertThat(events.findValuesAsText("frames")).containsExactly("500");
    callback(task, "completed", Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED"))
        .ok();
    callback(task, "event", event).is(409, "task_already_terminal");
  }
}
