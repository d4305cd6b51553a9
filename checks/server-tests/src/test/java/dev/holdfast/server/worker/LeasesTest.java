package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.Client;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The routes for workers that run many tasks under one key. */
public class LeasesTest extends LeasesFixture {
  LeasesTest(TestDatabase db) {
    super(db);
  }

  @Test
  void a_lease_lasts_as_long_as_its_worker_requests() {
    JobId job = enqueued();
    JsonNode task = leased(QUEUE, null).get("tasks").get(0);
    assertThat(task.get("heartbeatTimeoutMs").asLong()).isEqualTo(60_000);
    assertThat(left(job)).isBetween(30.0, 60.0);
    client
        .post(
            "/v1/leases/heartbeat",
            Map.of("leaseMs", 3_600_000, "leases", List.of(held(job, 1))),
            null)
        .ok();
    assertThat(left(job)).isBetween(3_000.0, 3_600.0);
  }

  @Test
  void an_empty_answer_says_when_the_next_task_is_due() {
    assertThat(leased(QUEUE, null).has("nextDueInMs")).isFalse();
    holdfast.enqueue(Job.of("echo").queue(QUEUE).delay(java.time.Duration.ofMinutes(2)));
    assertThat(leased(QUEUE, null).get("nextDueInMs").asLong()).isBetween(1_000L, 120_000L);
  }

  @Test
  void settlements_are_answered_in_order_and_identically_when_repeated() {
    List<JobId> jobs = List.of(enqueued(), enqueued(), enqueued(), enqueued(), enqueued());
    assertThat(leased(QUEUE, null).get("tasks")).hasSize(5);
    Map<String, Object> settlements =
        Map.of(
            "settlements",
            List.of(
                ending(jobs.get(0), "SUCCEEDED", Map.of("output", Map.of("price", 1.10))),
                ending(jobs.get(1), "RELEASED", Map.of("attempt", 7)),
                ending(
                    jobs.get(1),
                    "FAILED",
                    Map.of(
                        "delayMs",
                        0,
                        "error",
                        Map.of(
                            "category",
                            "USER_CODE",
                            "code",
                            "any words",
                            "message",
                            "no",
                            "retryable",
                            false))),
                ending(jobs.get(2), "CANCELLED", Map.of("partialProgress", Map.of("done", 3))),
                ending(jobs.get(3), "SNOOZED", Map.of("delayMs", 60_000)),
                ending(jobs.get(4), "RELEASED", Map.of("abortedByShutdown", true))));
    for (int i = 0; i < 2; i++) {
      assertThat(acks(client.post("/v1/leases/settle", settlements, null).ok()))
          .containsExactly(
              "ACCEPTED", "LEASE_LOST", "ACCEPTED", "ACCEPTED", "ACCEPTED", "ACCEPTED");
      assertThat(jobs.stream().map(this::state))
          .containsExactly("SUCCEEDED", "FAILED", "CANCELLED", "PENDING", "PENDING");
    }
    assertThat(holdfast.queries().timeline(jobs.get(4)).getLast().type())
        .isEqualTo("aborted:shutdown");
    assertThat(String.valueOf(holdfast.find(jobs.get(1)).orElseThrow().failure()))
        .contains("any words");
  }

  @Test
  void a_second_settlement_of_an_attempt_is_rejected_and_the_first_stands() {
    JobId job = enqueued();
    leased(QUEUE, null);
    Map<String, Object> first = ending(job, "SUCCEEDED", Map.of("output", Map.of("n", 1)));
    Map<String, Object> other = ending(job, "SUCCEEDED", Map.of("output", Map.of("n", 2)));
    assertThat(settled(List.of(first, first, other)))
        .containsExactly("ACCEPTED", "ACCEPTED", "LEASE_LOST");
    assertThat(settled(List.of(first))).containsExactly("ACCEPTED");
    assertThat(settled(List.of(other))).containsExactly("LEASE_LOST");
    assertThat(settled(List.of(ending(job, "SUCCEEDED", Map.of())))).containsExactly("LEASE_LOST");
    assertThat(settled(List.of(ending(job, "RELEASED", Map.of())))).containsExactly("LEASE_LOST");
    assertThat(client.get("/v1/jobs/" + job + "/result", null).ok().at("/result/n").asInt())
        .isEqualTo(1);
  }

  @Test
  void of_two_settlements_of_an_attempt_in_one_request_the_first_counts() {
    JobId job = enqueued();
    leased(QUEUE, null);
    assertThat(
            settled(
                List.of(
                    ending(job, "RELEASED", Map.of()),
                    ending(job, "SUCCEEDED", Map.of("output", 1)))))
        .containsExactly("ACCEPTED", "LEASE_LOST");
    assertThat(state(job)).isEqualTo("PENDING");
  }

  private List<String> settled(List<Map<String, Object>> endings) {
    return acks(client.post("/v1/leases/settle", Map.of("settlements", endings), null).ok());
  }

  @Test
  void metrics_of_an_attempt_are_stored_with_it() {
    JobId job = enqueued();
    JobId plain = enqueued();
    leased(QUEUE, null);
    Map<String, Object> measured =
        ending(job, "SUCCEEDED", Map.of("output", 1, "metrics", Map.of("cpuTimeMs", 450)));
    for (int i = 0; i < 2; i++) {
      assertThat(settled(List.of(measured, ending(plain, "SUCCEEDED", Map.of()))))
          .containsExactly("ACCEPTED", "ACCEPTED");
    }
    // Measured anew it is the same settlement, with another output it is not.
    Map<String, Object> again = Map.of("output", 1, "metrics", Map.of("cpuTimeMs", 7));
    assertThat(settled(List.of(ending(job, "SUCCEEDED", again)))).containsExactly("ACCEPTED");
    Map<String, Object> other = Map.of("output", 2, "metrics", Map.of("cpuTimeMs", 450));
    assertThat(settled(List.of(ending(job, "SUCCEEDED", other)))).containsExactly("LEASE_LOST");
    assertThat(
            client
                .get("/v1/jobs/" + job + "/attempts", null)
                .ok()
                .at("/attempts/0/metrics/cpuTimeMs")
                .asInt())
        .isEqualTo(450);
    client
        .post(
            "/v1/leases/settle",
            Map.of(
                "settlements", List.of(ending(job, "RELEASED", Map.of("metrics", Map.of("n", 1))))),
            null)
        .is(422, "invalid_value");
  }

  @Test
  void a_message_alone_leaves_the_percentage_as_it_is() {
    JobId job = enqueued();
    leased(QUEUE, null);
    for (Map<String, Object> said :
        List.<Map<String, Object>>of(Map.of("progressPct", 30), Map.of("message", "half way"))) {
      Map<String, Object> report = new java.util.HashMap<>(held(job, 1));
      report.putAll(said);
      assertThat(
              acks(client.post("/v1/leases/report", Map.of("reports", List.of(report)), null).ok()))
          .containsExactly("ACCEPTED");
    }
    JsonNode shown = client.get("/v1/jobs/" + job, null).ok();
    assertThat(shown.get("progress").asInt()).isEqualTo(30);
    assertThat(shown.get("progressMessage").asText()).isEqualTo("half way");
  }

  @Test
  void the_message_about_a_bad_entry_names_its_place() {
    JobId job = JobId.next();
    Map<String, Object> good = ending(job, "RELEASED", Map.of());
    Map<String, Object> bad = ending(job, "RELEASED", Map.of("delayMs", 1));
    assertThat(
            client
                .post("/v1/leases/settle", Map.of("settlements", List.of(good, good, bad)), null)
                .is(422, "invalid_value")
                .body()
                .get("message")
                .asText())
        .isEqualTo("settlements[2]: field 'delayMs' does not belong to this outcome");
    Map<String, Object> report = new java.util.HashMap<>(held(job, 1));
    report.put("progressPct", 200);
    assertThat(
            client
                .post("/v1/leases/report", Map.of("reports", List.of(report)), null)
                .is(422, "bad_progress")
                .body()
                .get("message")
                .asText())
        .startsWith("reports[0]: progress 200");
    Map<String, Object> kind = Map.of("kind", "echo");
    for (Map<String, Object> wrong :
        List.<Map<String, Object>>of(
            Map.of(),
            Map.of("kind", "echo", "priority", 11),
            Map.of("kind", "echo", "priority", "low"),
            Map.of("kind", "echo", "payload", "x".repeat(1 << 20)))) {
      Client.Reply reply =
          client.post("/v1/jobs", Map.of("jobs", List.of(kind, kind, wrong)), null);
      assertThat(reply.status()).as(wrong.toString()).isIn(413, 422);
      assertThat(reply.body().get("message").asText()).contains("jobs[2]");
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isZero();
  }

  @Test
  void heartbeats_come_as_often_in_a_lease_of_another_length_and_keep_it() {
    JobId job = enqueued();
    JsonNode task =
        client
            .post(
                "/v1/queues/" + QUEUE + "/lease",
                Map.of("workerId", "w1", "leaseMs", 3_600_000),
                null)
            .ok()
            .get("tasks")
            .get(0);
    assertThat(task.get("heartbeatIntervalMs").asLong()).isEqualTo(1_200_000);
    assertThat(task.get("heartbeatTimeoutMs").asLong()).isEqualTo(3_600_000);
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).ok();
    assertThat(left(job)).isBetween(3_000.0, 3_600.1);
  }

  @Test
  void the_cancel_grace_period_is_that_of_the_worker_or_of_the_server() {
    JobId own = enqueued();
    Map<String, Object> asking = Map.of("workerId", "w1", "cancelGracePeriodMs", 120_000);
    JsonNode task =
        client.post("/v1/queues/" + QUEUE + "/lease", asking, null).ok().get("tasks").get(0);
    assertThat(task.get("cancelGracePeriodMs").asLong()).isEqualTo(120_000);
    JobId usual = enqueued();
    assertThat(leased(QUEUE, null).get("tasks").get(0).get("cancelGracePeriodMs").asLong())
        .isEqualTo(30_000);
    for (JobId job : List.of(own, usual)) {
      client.post("/v1/jobs/" + job + "/cancel", Map.of(), null).ok();
    }
    assertThat(graceMs(own)).isEqualTo(120_000);
    assertThat(graceMs(usual)).isEqualTo(30_000);
  }

  private long graceMs(JobId job) {
    return db.count(
        "SELECT round(1000 * extract(epoch FROM cancel_deadline - cancel_requested_at))"
            + " FROM holdfast.job WHERE id = '"
            + job
            + "'");
  }

  @Test
  void the_leases_of_a_worker_and_their_cancels_can_be_listed() {
    JobId job = enqueued();
    leased(QUEUE, null);
    JsonNode held = client.get("/v1/leases?workerId=w1", null).ok().get("leases");
    assertThat(held).hasSize(1);
    assertThat(held.get(0).get("taskId").asText()).isEqualTo(job.toString());
    assertThat(client.get("/v1/leases?workerId=w2", null).ok().get("leases")).isEmpty();
    assertThat(client.get("/v1/leases/commands?workerId=w1", null).ok().get("leases")).isEmpty();
    holdfast.jobs().cancel(List.of(job), false, "enough", Tenant.ANY);
    JsonNode leases = client.get("/v1/leases/commands?workerId=w1", null).ok().get("leases");
    assertThat(leases.get(0).get("cancelReason").asText()).isEqualTo("enough");
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          heartbeat | {"leases":[]}
          heartbeat | {"leaseMs":1,"leases":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1"}]}
          heartbeat | {"leaseMs":60000,"leases":[null]}
          heartbeat | {"leaseMs":60000,"leases":[{"taskId":null,"attempt":1,"workerId":"w1"}]}
          heartbeat | {"leaseMs":60000,"leases":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":0,"workerId":"w1"}]}
          settle    | {"settlements":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","outcome":"LOST"}]}
          settle    | {"settlements":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","outcome":"FAILED"}]}
          settle    | {"settlements":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","outcome":"SNOOZED","delayMs":-1}]}
          settle    | {"settlements":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","outcome":"RELEASED","output":1}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1"}]}
          heartbeat | {"leaseMs":60000,"leases":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"progressPct":1}]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"store":"s","artifacts":[{"name":"a","size":1,"sha256":"%s"}]}
          succeeded | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","progressPct":101}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","type":"done"}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","type":"task.step.attempt.started"}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","progressPct":1,"step":{"stepId":"s","stepIndex":1,"state":"RUNNING","stepAttempt":1,"reset":false,"events":[]}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"a b","stepIndex":1,"state":"RUNNING","stepAttempt":1,"reset":false,"events":[]}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"s","stepIndex":0,"state":"RUNNING","stepAttempt":1,"reset":false,"events":[]}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"s","stepIndex":1,"stepAttempt":1,"reset":false,"events":[]}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"s","stepIndex":1,"state":"RUNNING","stepAttempt":1,"reset":false}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"s","stepIndex":1,"state":"RUNNING","stepAttempt":1,"reset":false,"events":[{"type":"done","data":{}}]}}]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","store":"s","artifacts":[]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","store":"s","artifacts":[{"name":"../a","size":1,"sha256":"%s"}]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","store":"s","artifacts":[{"name":"a","size":1,"sha256":"xyz"}]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","store":"s","artifacts":[{"name":"a","size":-1,"sha256":"%s"}]}
          succeeded | {}
          """)
  void an_invalid_request_is_answered_with_422_and_a_message(String route, String body) {
    Client.Reply reply =
        client.post("/v1/leases/" + route, new Json(body.replace("%s", SHA256)), null);
    assertThat(reply.status()).as(() -> reply.body().toString()).isEqualTo(422);
    assertThat(reply.body().get("message").asText()).isNotBlank();
  }

  @Test
  void a_result_that_cannot_be_stored_is_refused_and_nothing_is_written() {
    JobId job = enqueued();
    leased(QUEUE, null);
    client
        .post(
            "/v1/leases/settle",
            Map.of("settlements", List.of(ending(job, "SUCCEEDED", Map.of("output", "\0")))),
            null)
        .is(422, "result_not_json");
    Map<String, Object> publication = new java.util.HashMap<>(publication(job, 1));
    publication.put("result", "\0");
    client.post("/v1/leases/publish", publication, null).is(422, "result_not_json");
    assertThat(state(job)).isEqualTo("RUNNING");
  }
}
