package dev.holdfast.server.auth;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which role may do what, route by route. */
public class RolesTest extends ServerTest {
  private static final Set<Role> READERS =
      EnumSet.of(Role.VIEWER, Role.SUBMITTER, Role.OPERATOR, Role.ADMIN);
  private static final Set<Role> SUBMITTERS = EnumSet.of(Role.SUBMITTER, Role.OPERATOR, Role.ADMIN);
  private static final Set<Role> WORKERS = EnumSet.of(Role.WORKER, Role.ADMIN);
  private static final Set<Role> OPERATORS = EnumSet.of(Role.OPERATOR, Role.ADMIN);
  private static final Set<Role> ADMINS = EnumSet.of(Role.ADMIN);
  private static final Set<Role> ALL = EnumSet.allOf(Role.class);

  private record Rule(String method, String path, Set<Role> may) {}

  RolesTest(TestDatabase db) {
    super(db);
  }

  private static final String LEASE = "taskId=" + JobId.next() + "&attempt=1&workerId=w1";

  private static List<Rule> rules() {
    String job = "/v1/jobs/" + JobId.next();
    return List.of(
        new Rule("GET", "/health", ALL),
        new Rule("GET", "/ready", ALL),
        new Rule("GET", "/v1/jobs", READERS),
        new Rule("GET", job, READERS),
        new Rule("GET", job + "/timeline", READERS),
        new Rule("GET", job + "/log", READERS),
        new Rule("GET", job + "/attempts", READERS),
        new Rule("GET", job + "/result", READERS),
        new Rule("GET", job + "/artifacts", READERS),
        new Rule("GET", job + "/steps", READERS),
        new Rule("GET", job + "/steps/build/patch", READERS),
        new Rule("GET", job + "/artifacts/out.bin", READERS),
        new Rule("GET", "/v1/queues", READERS),
        new Rule("GET", "/v1/queues/work", READERS),
        new Rule("GET", "/v1/schedules", READERS),
        new Rule("GET", "/v1/workers", READERS),
        new Rule("GET", "/v1/workers/worker:work:0/exits", READERS),
        new Rule("GET", "/v1/workers/worker:work:0/log?supervisor=here", READERS),
        new Rule("GET", "/v1/runs", READERS),
        new Rule("GET", "/v1/runs/" + JobId.next(), READERS),
        new Rule("GET", "/v1/jobs/ids?part=abcd", READERS),
        new Rule("GET", job + "/patch", READERS),
        new Rule("GET", "/v1/statistics", READERS),
        new Rule("GET", "/v1/history", READERS),
        new Rule("GET", "/v1/jobs/count", READERS),
        new Rule("GET", "/v1/info", ALL),
        new Rule("GET", "/v1/settings", OPERATORS),
        new Rule("POST", "/v1/jobs", SUBMITTERS),
        new Rule("POST", "/v1/queues/work/lease", WORKERS),
        new Rule("POST", "/v1/leases/step", WORKERS),
        new Rule("GET", "/v1/leases/steps?" + LEASE, WORKERS),
        new Rule("GET", "/v1/leases/patch?" + LEASE + "&stepId=build", WORKERS),
        new Rule("POST", job + "/control", OPERATORS),
        new Rule("POST", job + "/cancel", OPERATORS),
        new Rule("POST", job + "/retry", OPERATORS),
        new Rule("POST", "/v1/jobs/cancel", OPERATORS),
        new Rule("POST", "/v1/jobs/retry", OPERATORS),
        new Rule("POST", "/v1/queues/work/pause", OPERATORS),
        new Rule("POST", "/v1/queues/work/resume", OPERATORS),
        new Rule("PATCH", "/v1/queues/work/limits", OPERATORS),
        new Rule("PUT", "/v1/queues/work/dispatch", OPERATORS),
        new Rule("DELETE", "/v1/queues/work/dispatch", OPERATORS),
        new Rule("POST", "/v1/workers/pause", OPERATORS),
        new Rule("POST", "/v1/workers/resume", OPERATORS),
        new Rule("POST", "/v1/workers/worker:work:0/pause", OPERATORS),
        new Rule("POST", "/v1/workers/worker:work:0/resume", OPERATORS),
        new Rule("POST", "/v1/workers/worker:work:0/restart", OPERATORS),
        new Rule("POST", "/v1/workers/worker:work:0/stop", OPERATORS),
        new Rule("PUT", "/v1/schedules/nightly", OPERATORS),
        new Rule("DELETE", "/v1/schedules/nightly", OPERATORS),
        new Rule("POST", "/v1/schedules/nightly/pause", OPERATORS),
        new Rule("POST", "/v1/schedules/nightly/resume", OPERATORS),
        new Rule("GET", "/v1/keys", ADMINS),
        new Rule("POST", "/v1/keys", ADMINS),
        new Rule("DELETE", "/v1/keys/000000000000", ADMINS),
        new Rule("POST", "/v1/keys/000000000000/rotate", ADMINS),
        new Rule("POST", "/v1/signing-keys/rotate", ADMINS));
  }

  private Client.Reply send(Rule rule, String key) {
    return client.send(
        client
            .request(rule.path(), key)
            .header("Content-Type", "application/json")
            .method(
                rule.method(),
                rule.method().equals("GET")
                    ? BodyPublishers.noBody()
                    : BodyPublishers.ofString("{\"no\": \"such field\"}")));
  }

  @ParameterizedTest
  @EnumSource
  void a_role_has_exactly_its_permissions(Role role) {
    String key = key(role, null);
    for (Rule rule : rules()) {
      Client.Reply reply = send(rule, key);
      if (rule.may().contains(role)) {
        assertThat(reply.status()).as(rule + ": " + reply.body()).isNotIn(401, 403, 405, 500, 503);
      } else {
        assertThat(reply.status()).as(rule + ": " + reply.body()).isEqualTo(403);
        reply.is(403, "forbidden");
      }
    }
  }

  @Test
  void a_worker_reads_the_timings_of_the_server_and_nothing_about_jobs() {
    JsonNode info = client.get("/v1/info", key(Role.WORKER, null)).ok();
    assertThat(info.at("/timings/heartbeatTimeoutMs").asLong()).isPositive();
    assertThat(info.has("counts")).isFalse();
    assertThat(info.has("problems")).isFalse();
    assertThat(client.get("/v1/info", key(Role.VIEWER, null)).ok().has("counts")).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void the_key_of_one_tenant_cannot_use_routes_that_concern_all_tenants(Role role) {
    String key = key(role, "acme");
    for (Rule rule : rules()) {
      if (rule.path().startsWith("/v1/schedules")
          || rule.path().contains("keys")
          || rule.path().equals("/v1/settings")
          || rule.path().startsWith("/v1/workers/")
          || (rule.path().startsWith("/v1/queues/") && OPERATORS.equals(rule.may()))) {
        send(rule, key).is(403, "forbidden");
      }
    }
  }
}
