package dev.holdfast.server.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.Diagnostics;
import dev.holdfast.operate.LocalOperator;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A key of one tenant, and jobs of two tenants. */
public class TenantsTest extends ServerTest {
  private String key = "";
  private JobId own = JobId.next();
  private JobId foreign = JobId.next();

  TenantsTest(TestDatabase db) {
    super(db);
  }

  @BeforeEach
  void twoTenants() {
    key = key(Role.OPERATOR, "acme");
    own = holdfast.enqueue(Job.of("echo").queue("ours").owner("acme", "w")).id();
    foreign = holdfast.enqueue(Job.of("echo").queue("theirs").owner("other", "w")).id();
  }

  /** Except for the id, the same response as for an unknown job. */
  private void assertUnknown(Client.Reply reply, Client.Reply unknown, JobId id) {
    assertThat(reply.status()).isEqualTo(404);
    assertThat(reply.body().toString().replace(foreign.toString(), ""))
        .isEqualTo(unknown.body().toString().replace(id.toString(), ""));
  }

  @Test
  void a_job_of_another_tenant_is_not_found() {
    JobId unknown = JobId.next();
    for (String part :
        List.of(
            "",
            "/timeline",
            "/attempts",
            "/result",
            "/artifacts",
            "/artifacts/out.bin",
            "/steps",
            "/patch",
            "/steps/build/patch")) {
      assertUnknown(
          client.get("/v1/jobs/" + foreign + part, key),
          client.get("/v1/jobs/" + unknown + part, key),
          unknown);
    }
    for (String verb : List.of("/cancel", "/retry")) {
      assertUnknown(
          client.post("/v1/jobs/" + foreign + verb, key),
          client.post("/v1/jobs/" + unknown + verb, key),
          unknown);
    }
    Map<String, String> pause = Map.of("action", "pause");
    assertUnknown(
        client.post("/v1/jobs/" + foreign + "/control", pause, key),
        client.post("/v1/jobs/" + unknown + "/control", pause, key),
        unknown);
    assertThat(holdfast.queries().pendingCommand(foreign)).isEqualTo(PendingCommand.NONE);
    assertThat(state(foreign)).isEqualTo("PENDING");
    client.get("/v1/jobs/" + own, key).ok();
  }

  @Test
  void lists_and_counts_show_only_the_tenant_of_the_key() {
    for (String query : List.of("", "?state=PENDING", "?kind=echo", "?q=echo")) {
      JsonNode jobs = client.get("/v1/jobs" + query, key).ok().get("jobs");
      assertThat(jobs).hasSize(1);
      assertThat(jobs.get(0).get("id").asText()).isEqualTo(own.toString());
    }
    assertThat(client.get("/v1/jobs?tenant=acme", key).ok().get("jobs")).hasSize(1);
    assertThat(client.get("/v1/jobs?tenant=other", key).ok().get("jobs")).isEmpty();
    assertThat(client.get("/v1/jobs?runId=" + foreign, key).ok().get("jobs")).isEmpty();
    assertThat(client.get("/v1/jobs?q=" + foreign, key).ok().get("jobs")).isEmpty();

    JsonNode queues = client.get("/v1/queues", key).ok().get("queues");
    assertThat(queues).hasSize(1);
    assertThat(queues.get(0).get("name").asText()).isEqualTo("ours");
    assertThat(client.get("/v1/queues/theirs", key).ok().get("due").asInt()).isZero();
    ObjectNode never = client.get("/v1/queues/never", key).ok().deepCopy();
    assertThat(client.get("/v1/queues/theirs", key).ok()).isEqualTo(never.put("name", "theirs"));

    JsonNode statistics = client.get("/v1/statistics", key).ok();
    assertThat(statistics.get("byState").get("PENDING").asInt()).isEqualTo(1);
    assertThat(statistics.get("rows")).hasSize(1);
    assertThat(client.get("/v1/info", key).ok().get("counts").get("due").asInt()).isEqualTo(1);

    String all = key(Role.VIEWER, null);
    assertThat(client.get("/v1/jobs", all).ok().get("jobs")).hasSize(2);
    assertThat(client.get("/v1/jobs?tenant=other", all).ok().get("jobs")).hasSize(1);
    assertThat(client.get("/v1/queues", all).ok().get("queues")).hasSize(2);
    assertThat(client.get("/v1/statistics", all).ok().get("byState").get("PENDING").asInt())
        .isEqualTo(2);
  }

  @Test
  void workers_are_shown_only_through_jobs_of_the_tenant() {
    holdfast.jobs().claim(new ClaimRequest("ours", 1, "w-ours", java.time.Duration.ofMinutes(1)));
    holdfast
        .jobs()
        .claim(new ClaimRequest("theirs", 1, "w-theirs", java.time.Duration.ofMinutes(1)));
    JsonNode workers = client.get("/v1/workers", key).ok().get("workers");
    assertThat(workers).hasSize(1);
    assertThat(workers.get(0).get("workerId").asText()).isEqualTo("w-ours");
    assertThat(workers.get(0).get("runningJobs").asInt()).isEqualTo(1);
    assertThat(workers.get(0).get("queues").toString()).isEqualTo("[\"ours\"]");
    assertThat(workers.get(0).get("oldestJobStartedAt").asText()).isNotBlank();
    assertThat(workers.get(0).get("lastHeartbeat").asText()).isNotBlank();
    assertThat(client.get("/v1/workers", key(Role.VIEWER, null)).ok().get("workers")).hasSize(2);
  }

  @Test
  void a_key_enqueues_jobs_of_its_own_tenant_and_no_others() {
    String made = client.post("/v1/jobs", Map.of("kind", "a"), key).body().get("id").asText();
    assertThat(client.get("/v1/jobs/" + made, key).ok().get("tenant").asText()).isEqualTo("acme");
    client.post("/v1/jobs", Map.of("kind", "a", "tenant", "other"), key).is(403, "forbidden");
    client
        .post(
            "/v1/jobs",
            Map.of("jobs", List.of(Map.of("kind", "a"), Map.of("kind", "a", "tenant", "other"))),
            key)
        .is(403, "forbidden");
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE tenant = 'other'")).isEqualTo(1);
  }

  @Test
  void a_job_can_neither_depend_on_a_job_of_another_tenant_nor_take_its_id() {
    Client.Reply foreigner =
        client.post("/v1/jobs", Map.of("kind", "a", "dependsOn", List.of(foreign.toString())), key);
    String none = JobId.next().toString();
    Client.Reply unknown =
        client.post("/v1/jobs", Map.of("kind", "a", "dependsOn", List.of(none)), key);
    foreigner.is(422, "bad_dependency");
    assertThat(foreigner.body().toString().replace(foreign.toString(), none))
        .isEqualTo(unknown.body().toString());
    Client.Reply taken =
        client
            .post("/v1/jobs", Map.of("kind", "a", "id", foreign.toString()), key)
            .is(409, "id_taken");
    Client.Reply takenByOwn =
        client.post("/v1/jobs", Map.of("kind", "a", "id", own.toString()), key).is(409, "id_taken");
    assertThat(taken.body().toString().replace(foreign.toString(), own.toString()))
        .as("an id that is taken is not said to be another tenant's")
        .isEqualTo(takenByOwn.body().toString());
  }

  @Test
  void bulk_cancel_and_retry_skip_jobs_of_another_tenant() {
    List<String> both = List.of(own.toString(), foreign.toString());
    JsonNode cancelled = client.post("/v1/jobs/cancel", Map.of("ids", both), key).ok();
    assertThat(cancelled.get("cancelled").asInt()).isEqualTo(1);
    assertThat(cancelled.get("notFound").asInt()).isEqualTo(1);
    assertThat(state(foreign)).isEqualTo("PENDING");

    holdfast.cancel(foreign, "by its owner");
    JsonNode retried = client.post("/v1/jobs/retry", Map.of("ids", both), key).ok();
    assertThat(retried.get("retried").asInt()).isEqualTo(1);
    assertThat(retried.get("notFound").asInt()).isEqualTo(1);
    assertThat(state(foreign)).isEqualTo("CANCELLED");

    JsonNode byFilter =
        client
            .post("/v1/jobs/cancel", Map.of("filter", Map.of("kind", "echo"), "cascade", true), key)
            .ok();
    assertThat(byFilter.get("cancelled").asInt()).isEqualTo(1);
  }

  @Test
  void a_retryable_job_of_another_tenant_is_not_retried() {
    holdfast.cancel(foreign, "by its owner");
    JobId unknown = JobId.next();
    assertUnknown(
        client.post("/v1/jobs/" + foreign + "/retry", key),
        client.post("/v1/jobs/" + unknown + "/retry", key),
        unknown);
    assertThat(state(foreign)).isEqualTo("CANCELLED");
    client.post("/v1/jobs/" + foreign + "/retry", key(Role.OPERATOR, "other")).ok();
    assertThat(state(foreign)).isEqualTo("PENDING");
  }

  @Test
  void a_filter_may_name_a_tenant_and_a_key_of_another_one_finds_nothing_with_it() {
    Map<String, ?> filter = Map.of("filter", Map.of("tenant", "other"));
    JsonNode none = client.post("/v1/jobs/cancel", filter, key).ok();
    assertThat(none.get("cancelled").asInt()).isZero();
    assertThat(state(foreign)).isEqualTo("PENDING");
    String all = key(Role.OPERATOR, null);
    assertThat(client.post("/v1/jobs/cancel", filter, all).ok().get("cancelled").asInt()).isOne();
    assertThat(state(foreign)).isEqualTo("CANCELLED");
    assertThat(state(own)).isEqualTo("PENDING");
    Map<String, ?> ended = Map.of("filter", Map.of("tenant", "other", "state", "CANCELLED"));
    assertThat(client.post("/v1/jobs/retry", ended, key).ok().get("retried").asInt()).isZero();
    assertThat(client.post("/v1/jobs/retry", ended, all).ok().get("retried").asInt()).isOne();
  }

  @Test
  void an_operator_of_one_tenant_enqueues_for_no_other() {
    JobStore store = holdfast.store();
    LocalOperator operator =
        new LocalOperator(
            store,
            new Principal("ada", Tenant.of("acme"), Role.OPERATOR),
            new Diagnostics(store, Timings.DEFAULT),
            (job, open) -> {
              throw new UnsupportedOperationException();
            },
            "0",
            () -> {});
    assertThatThrownBy(() -> operator.jobs().enqueue(List.of(Job.of("echo").owner("other", "w"))))
        .isInstanceOfSatisfying(
            OperatorException.class,
            refused -> assertThat(refused.reason()).isEqualTo(OperatorException.Reason.FORBIDDEN));
    assertThat(operator.jobs().enqueue(List.of(Job.of("echo").owner("acme", "w")))).hasSize(1);
    assertThatThrownBy(() -> Tenant.of("")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_cancel_or_retry_by_filter_skips_jobs_of_another_tenant() {
    for (Map<String, String> filter :
        List.of(Map.of("kind", "echo"), Map.of("state", "PENDING"), Map.of("q", "echo"))) {
      client.post("/v1/jobs/cancel", Map.of("filter", filter), key).ok();
      assertThat(state(foreign)).isEqualTo("PENDING");
      assertThat(state(own)).isEqualTo("CANCELLED");
      holdfast.jobs().retry(List.of(own), Tenant.ANY);
    }
    for (Map<String, String> filter :
        List.of(Map.of("queue", "theirs"), Map.of("runId", foreign.toString()))) {
      JsonNode none = client.post("/v1/jobs/cancel", Map.of("filter", filter), key).ok();
      assertThat(none.get("cancelled").asInt()).isZero();
      assertThat(none.get("notFound").asInt()).isZero();
    }
    holdfast.cancel(foreign, "by its owner");
    holdfast.cancel(own, "by its owner");
    JsonNode retried =
        client
            .post(
                "/v1/jobs/retry",
                Map.of("filter", Map.of("kind", "echo", "state", "CANCELLED")),
                key)
            .ok();
    assertThat(retried.get("retried").asInt()).isEqualTo(1);
    assertThat(state(foreign)).isEqualTo("CANCELLED");
  }

  @Test
  void jobs_of_another_tenant_are_not_counted() {
    for (String query : List.of("", "?state=PENDING", "?kind=echo", "?q=echo", "?tenant=acme")) {
      assertThat(counted(query, key)).as(query).isEqualTo(1);
    }
    for (String query :
        List.of("?tenant=other", "?queue=theirs", "?runId=" + foreign, "?q=" + foreign)) {
      assertThat(counted(query, key)).as(query).isZero();
    }
    assertThat(counted("", key(Role.VIEWER, null))).isEqualTo(2);
  }

  private int counted(String query, String bearer) {
    return client.get("/v1/jobs/count" + query, bearer).ok().get("count").asInt();
  }

  @Test
  void a_cancel_does_not_cascade_to_a_child_of_another_tenant() {
    JobId child = holdfast.enqueue(Job.of("child").owner("other", "w").parent(own)).id();
    client.post("/v1/jobs/" + own + "/cancel", Map.of("cascade", true), key).ok();
    assertThat(state(own)).isEqualTo("CANCELLED");
    assertThat(state(child)).isEqualTo("PENDING");
  }

  @Test
  void two_tenants_may_choose_the_same_idempotency_key() {
    String other = key(Role.SUBMITTER, "other");
    Map<String, Object> body = Map.of("kind", "a");
    String first = once(body, key);
    assertThat(once(body, other)).isNotEqualTo(first);
    assertThat(once(body, key)).isEqualTo(first);
  }

  private String once(Map<String, Object> body, String bearer) {
    return client
        .send(
            client
                .request("/v1/jobs", bearer)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", "same")
                .POST(
                    java.net.http.HttpRequest.BodyPublishers.ofByteArray(
                        dev.holdfast.contract.json.Wire.write(body))))
        .body()
        .get("id")
        .asText();
  }
}
