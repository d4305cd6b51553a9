package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Moment;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

public class HistoryTest extends ServerTest {
  private static final Instant NOON = Instant.parse("2026-11-15T12:00:05Z");

  HistoryTest(TestDatabase db) {
    super(db);
  }

  private void ended(String state, Instant at, int runMs, int waitMs, String tenant) {
    JobId job = holdfast.enqueue(Job.of("k")).id();
    db.sql(
        "UPDATE holdfast.job SET state = ?, tenant = ?, finished_at = at, started_at = at - ? * interval '1 ms',"
            + " run_at = at - ? * interval '1 ms' FROM (SELECT ?::timestamptz AS at) AS moment"
            + " WHERE id = ?",
        state,
        tenant,
        runMs,
        runMs + waitMs,
        at.toString(),
        job.value());
  }

  private History history(@Nullable String tenant) {
    return new History(holdfast.queries(), tenant);
  }

  /** What lies back comes bit by bit. */
  private static History.Shown filled(History history, Duration span, Instant now) {
    History.Shown shown = history.last(span, 90, now);
    for (int again = 0; shown.since().isAfter(now.minus(span)); again++) {
      assertThat(again).isLessThan(1_000);
      shown = history.last(span, 90, now);
    }
    return shown;
  }

  private static Moment sum(History.Shown shown) {
    return shown.points().stream().reduce(Moment.none(NOON), Moment::plus);
  }

  @Test
  void what_ended_is_summed_up_span_by_span() {
    ended("SUCCEEDED", NOON.minusSeconds(1), 100, 20, "default");
    ended("SUCCEEDED", NOON.minusSeconds(2), 300, 40, "default");
    ended("FAILED", NOON.minusSeconds(70), 100, 0, "default");
    ended("CANCELLED", NOON.minusSeconds(900), 100, 0, "acme");
    History.Shown shown = filled(history(null), Duration.ofMinutes(15), NOON);
    assertThat(shown.step()).isEqualTo(Duration.ofSeconds(10));
    assertThat(shown.points()).hasSize(91);
    Moment last = shown.points().getLast();
    assertThat(last.at()).isEqualTo(Instant.parse("2026-11-15T12:00:00Z"));
    assertThat(last.succeeded()).isEqualTo(2);
    assertThat(last.run()).isEqualTo(Duration.ofMillis(400));
    assertThat(last.longestRun()).isEqualTo(Duration.ofMillis(300));
    assertThat(last.waited()).isEqualTo(Duration.ofMillis(60));
    assertThat(last.longestWait()).isEqualTo(Duration.ofMillis(40));
    assertThat(shown.points().get(90 - 7).failed()).isEqualTo(1);
    assertThat(shown.points().getFirst().cancelled()).isEqualTo(1);
    assertThat(sum(filled(history("default"), Duration.ofMinutes(15), NOON)).cancelled()).isZero();
  }

  @Test
  void what_lies_hours_back_is_filled_in_and_what_is_new_is_added_once() {
    History history = history(null);
    ended("SUCCEEDED", NOON.minusSeconds(5 * 3600), 100, 0, "default");
    ended("SUCCEEDED", NOON.minusSeconds(10), 100, 0, "default");
    assertThat(sum(history.last(Duration.ofMinutes(15), 90, NOON)).succeeded()).isEqualTo(1);
    History.Shown shown = filled(history, History.FARTHEST, NOON);
    assertThat(shown.step()).isEqualTo(Duration.ofMinutes(4));
    assertThat(sum(shown).succeeded()).isEqualTo(2);
    // Two more at once: a commit that comes late for its time, and a new one.
    ended("SUCCEEDED", NOON.minusSeconds(4), 100, 0, "default");
    ended("SUCCEEDED", NOON.plusSeconds(4), 100, 0, "default");
    assertThat(sum(history.last(History.FARTHEST, 90, NOON.plusSeconds(5))).succeeded())
        .isEqualTo(4);
    assertThat(sum(history.last(Duration.ofMinutes(15), 90, NOON.plusSeconds(6))).succeeded())
        .isEqualTo(3);
  }

  @Test
  void nobody_asked_for_a_while_and_it_begins_anew() {
    History history = history(null);
    ended("SUCCEEDED", NOON, 100, 0, "default");
    assertThat(sum(history.last(Duration.ofMinutes(15), 90, NOON.plusSeconds(1))).succeeded())
        .isEqualTo(1);
    Instant later = NOON.plusSeconds(3 * 3600);
    ended("FAILED", later.minusSeconds(3600), 100, 0, "default");
    Moment all = sum(filled(history, Duration.ofHours(4), later));
    assertThat(all.failed()).isEqualTo(1);
    assertThat(all.succeeded()).isEqualTo(1);
  }

  @Test
  void it_is_answered_over_http_for_ones_own_tenant() {
    Instant now = holdfast.queries().now();
    ended("SUCCEEDED", now.minusSeconds(20), 100, 20, "acme");
    ended("FAILED", now.minusSeconds(20), 100, 20, "other");
    JsonNode all = client.get("/v1/history?minutes=60", key(Role.ADMIN, null)).ok();
    assertThat(all.get("intervalMs").asInt()).isEqualTo(40_000);
    assertThat(all.findValues("failed").stream().mapToInt(JsonNode::asInt).sum()).isEqualTo(1);
    JsonNode own = client.get("/v1/history", key(Role.VIEWER, "acme")).ok();
    assertThat(own.findValues("succeeded").stream().mapToInt(JsonNode::asInt).sum()).isEqualTo(1);
    assertThat(own.findValues("failed").stream().mapToInt(JsonNode::asInt).sum()).isZero();
    client.get("/v1/history?minutes=361", key(Role.VIEWER, "acme")).is(422, "invalid_value");
  }
}
