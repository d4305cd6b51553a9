package dev.holdfast.server.worker;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.JobId;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Requests of workers that hold many leases under one key. */
abstract class LeasesFixture extends ServerTest {
  static final String SHA256 = "0123456789abcdef".repeat(4);

  LeasesFixture(TestDatabase db) {
    super(db);
  }

  JsonNode leased(String queue, @Nullable String bearer) {
    return client
        .post(
            "/v1/queues/" + queue + "/lease",
            Map.of("workerId", "w1", "leaseMs", 60_000, "max", 10),
            bearer)
        .ok();
  }

  static Map<String, Object> held(JobId job, int attempt) {
    return Map.of("taskId", job.toString(), "attempt", attempt, "workerId", "w1");
  }

  List<String> acks(JsonNode answer) {
    return answer.get("acks").valueStream().map(JsonNode::asText).toList();
  }

  double left(JobId job) {
    return Double.parseDouble(
        String.valueOf(
            db.queryOne(
                String.class,
                "SELECT extract(epoch FROM lease_expires_at - clock_timestamp())::text"
                    + " FROM holdfast.job WHERE id = ?",
                job.value())));
  }

  static Map<String, Object> ending(JobId job, String outcome, Map<String, ?> more) {
    Map<String, Object> ending = new java.util.HashMap<>(held(job, 1));
    ending.put("outcome", outcome);
    ending.putAll(more);
    return ending;
  }

  static Map<String, Object> publication(JobId job, int attempt) {
    return Map.of(
        "taskId",
        job.toString(),
        "attempt",
        attempt,
        "workerId",
        "w1",
        "store",
        "shared",
        "artifacts",
        List.of(Map.of("name", "a.txt", "size", 3, "sha256", SHA256)));
  }
}
