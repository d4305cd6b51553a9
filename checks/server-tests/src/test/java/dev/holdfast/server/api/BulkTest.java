package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Cancels and retries many jobs, by their ids or by a filter. */
public class BulkTest extends JobsFixture {
  BulkTest(TestDatabase db) {
    super(db);
  }

  @Test
  void jobs_are_selected_by_text_and_time() {
    String old =
        created(Map.of("kind", "bulk", "payload", Map.of("to", "grace"))).get("id").asText();
    createdAt(old, "2026-11-15T10:00:00Z");
    String grace =
        created(Map.of("kind", "bulk", "payload", Map.of("to", "grace"))).get("id").asText();
    String bob = created(Map.of("kind", "bulk", "payload", Map.of("to", "bob"))).get("id").asText();
    // No word of the letters of which ids are made.
    Map<String, Object> filter = Map.of("q", "GRACE", "createdAfter", "2026-11-15T10:00:01Z");
    JsonNode done = client.post("/v1/jobs/cancel", Map.of("filter", filter), null).ok();
    assertThat(done.get("cancelled").asInt()).isEqualTo(1);
    assertThat(state(JobId.parse(grace))).isEqualTo("CANCELLED");
    assertThat(state(JobId.parse(bob))).isEqualTo("PENDING");
    assertThat(state(JobId.parse(old))).isEqualTo("PENDING");
    client
        .post("/v1/jobs/cancel", Map.of("filter", Map.of("createdAfter", "soon")), null)
        .is(422, "invalid_value");
  }

  @Test
  void a_bulk_cancel_by_age_spares_a_new_job_whose_id_says_that_it_is_old() {
    String young = "00000000-0000-7000-8000-000000000001";
    created(Map.of("id", young, "kind", "bulk"));
    String old =
        created(Map.of("id", "ffffffff-ffff-7fff-bfff-ffffffffffff", "kind", "bulk"))
            .get("id")
            .asText();
    createdAt(old, "2026-11-01T10:00:00Z");
    JsonNode done =
        client
            .post("/v1/jobs/cancel", Map.of("filter", Map.of("search", "kind:bulk age:>7d")), null)
            .ok();
    assertThat(done.get("cancelled").asInt()).isEqualTo(1);
    assertThat(state(JobId.parse(young))).isEqualTo("PENDING");
    assertThat(state(JobId.parse(old))).isEqualTo("CANCELLED");
    assertThat(client.get("/v1/jobs/count?search=age:%3E7d", null).ok().get("count").asInt())
        .isEqualTo(1);
  }

  @Test
  void jobs_are_cancelled_and_retried_by_their_ids() {
    List<String> all = new ArrayList<>();
    IntStream.range(0, 3).forEach(i -> all.add(enqueued().toString()));
    client.post("/v1/jobs/" + all.getFirst() + "/cancel", Map.of(), null).ok();
    all.add(JobId.next().toString());
    assertThat(client.post("/v1/jobs/cancel", Map.of("ids", all), null).ok().toString())
        .isEqualTo(
            "{\"cancelled\":2,\"requested\":0,\"alreadyRequested\":0,\"alreadyTerminal\":1,"
                + "\"notFound\":1}");
    assertThat(client.post("/v1/jobs/retry", Map.of("ids", all), null).ok().toString())
        .isEqualTo("{\"retried\":3,\"refused\":0,\"notFound\":1}");
    assertThat(client.post("/v1/jobs/retry", Map.of("ids", all), null).ok().toString())
        .isEqualTo("{\"retried\":0,\"refused\":3,\"notFound\":1}");
  }

  @Test
  void jobs_are_selected_by_a_filter_a_thousand_at_a_time() {
    holdfast.enqueue(IntStream.range(0, 1_005).mapToObj(i -> Job.of("bulk")).toList());
    JobId other = enqueued();
    Map<String, Object> filter = Map.of("kind", "bulk");
    JsonNode first = client.post("/v1/jobs/cancel", Map.of("filter", filter), null).ok();
    assertThat(first.get("cancelled").asInt()).isEqualTo(1_000);
    JsonNode second =
        client
            .post(
                "/v1/jobs/cancel",
                Map.of("filter", filter, "cursor", first.get("next").asText()),
                null)
            .ok();
    assertThat(second.get("cancelled").asInt()).isEqualTo(5);
    assertThat(second.has("next")).isFalse();
    assertThat(state(other)).isEqualTo("PENDING");
    JsonNode back =
        client
            .post(
                "/v1/jobs/retry",
                Map.of("filter", Map.of("kind", "bulk", "state", "CANCELLED")),
                null)
            .ok();
    assertThat(back.get("retried").asInt()).isEqualTo(1_000);
  }
}
