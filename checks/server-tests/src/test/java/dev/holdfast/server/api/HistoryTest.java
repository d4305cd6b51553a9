package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.TestDatabase;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

public class HistoryTest extends ServerTest {
  HistoryTest(TestDatabase db) {
    super(db);
  }

  private void ended(String state, int secondsAgo, String tenant, String queue, String kind) {
    JobId job = holdfast.enqueue(Job.of(kind).queue(queue)).id();
    db.sql(
        "UPDATE holdfast.job SET state = ?, tenant = ?, finished_at = at, created_at = at,"
            + " started_at = at - interval '100 ms', run_at = at - interval '120 ms'"
            + " FROM (SELECT now() - ? * interval '1 second' AS at) AS moment WHERE id = ?",
        state,
        tenant,
        secondsAgo,
        job.value());
  }

  private static long jobs(JsonNode history, String what) {
    return StreamSupport.stream(history.get("points").spliterator(), false)
        .mapToLong(point -> point.path("jobs").path(what).asLong())
        .sum();
  }

  @Test
  void history_is_reported_by_queue_and_kind_with_percentiles() {
    ended("SUCCEEDED", 0, "default", "mail", "welcome");
    ended("SUCCEEDED", 0, "default", "mail", "goodbye");
    ended("FAILED", 0, "default", "reports", "daily");
    String key = key(Role.VIEWER, null);
    JsonNode all = client.get("/v1/history?minutes=60", key).ok();
    assertThat(all.get("stepMs").asLong()).isEqualTo(60_000);
    assertThat(all.get("points")).hasSizeBetween(60, 61);
    assertThat(jobs(all, "succeeded")).isEqualTo(2);
    assertThat(jobs(all, "enqueued")).isEqualTo(3);
    assertThat(all.get("total").get("failed").asLong()).isEqualTo(1);
    assertThat(all.get("total").get("runMs").get("p99").asLong()).isBetween(90L, 110L);
    assertThat(all.get("total").get("waitMs").get("p50").asLong()).isBetween(18L, 22L);
    assertThat(all.get("kinds")).hasSize(3);
    JsonNode mail = client.get("/v1/history?minutes=15&queue=mail", key).ok();
    assertThat(jobs(mail, "succeeded")).isEqualTo(2);
    assertThat(jobs(mail, "failed")).isZero();
    assertThat(mail.get("kinds").findValuesAsText("kind"))
        .containsExactlyInAnyOrder("welcome", "goodbye");
    JsonNode one = client.get("/v1/history?queue=mail&kind=goodbye", key).ok();
    assertThat(jobs(one, "succeeded")).isEqualTo(1);
    JsonNode week = client.get("/v1/history?minutes=10080", key).ok();
    assertThat(week.get("stepMs").asLong()).isEqualTo(7_200_000);
    assertThat(week.get("points").get(0).get("jobs").isNull()).as("before it began").isTrue();
    assertThat(jobs(week, "succeeded")).isEqualTo(2);
  }

  @Test
  void a_key_of_one_tenant_sees_only_the_history_of_its_jobs() {
    ended("SUCCEEDED", 0, "acme", "mail", "welcome");
    ended("FAILED", 0, "other", "mail", "secret");
    JsonNode own = client.get("/v1/history", key(Role.VIEWER, "acme")).ok();
    assertThat(jobs(own, "succeeded")).isEqualTo(1);
    assertThat(jobs(own, "failed")).isZero();
    assertThat(own.get("kinds").findValuesAsText("kind")).containsExactly("welcome");
    assertThat(own.get("points").findValues("depth")).allMatch(JsonNode::isNull);
    client.get("/v1/history?minutes=10081", key(Role.VIEWER, "acme")).is(422, "invalid_value");
  }

  @Test
  void summed_up_history_outlives_its_jobs() {
    ended("SUCCEEDED", 1800, "default", "mail", "welcome");
    // At once: the server has a cursor of its own as soon as there is none.
    db.sql(
        "TRUNCATE holdfast.history_cursor;"
            + " INSERT INTO holdfast.history_cursor (known_since, summed_until, marked_at, marked_xid)"
            + " SELECT at, at, now(), '3'"
            + " FROM (SELECT date_trunc('minute', now()) - interval '40 minutes' AS at) AS cursor");
    // The server may be at it, too; then this one returns at once.
    Eventually.until(
        () -> {
          boolean unused = holdfast.store().maintenance().sumUpHistory();
          return db.count("SELECT count(*) FROM holdfast.history WHERE succeeded > 0") > 0;
        });
    // The job itself may be gone by then.
    db.sql("DELETE FROM holdfast.job");
    JsonNode told = client.get("/v1/history?minutes=60&queue=mail", key(Role.VIEWER, null)).ok();
    assertThat(jobs(told, "succeeded")).isEqualTo(1);
    assertThat(told.get("points").get(0).get("jobs").isNull()).isTrue();
  }
}
