package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists, counts and searches jobs. */
public class JobsListTest extends JobsFixture {
  JobsListTest(TestDatabase db) {
    super(db);
  }

  // ---- lists

  @Test
  void pages_are_complete_and_repeat_nothing_while_jobs_are_added() {
    Set<String> before = new HashSet<>();
    holdfast
        .enqueue(IntStream.range(0, 25).mapToObj(i -> Job.of("old")).toList())
        .forEach(job -> before.add(job.id().toString()));
    List<String> seen = new ArrayList<>();
    String cursor = "";
    int pages = 0;
    do {
      JsonNode page = client.get("/v1/jobs?limit=7" + cursor, null).ok();
      page.get("jobs").forEach(job -> seen.add(job.get("id").asText()));
      cursor = page.has("next") ? "&cursor=" + page.get("next").asText() : "";
      holdfast.enqueue(List.of(Job.of("new"), Job.of("new")));
      pages++;
    } while (!cursor.isEmpty());
    assertThat(pages).isEqualTo(4);
    assertThat(seen).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(before);
  }

  @Test
  void jobs_are_listed_by_state_queue_kind_run_and_parent() {
    JobId run = JobId.next();
    String a = holdfast.enqueue(Job.of("a").queue("q1").run(run, "x")).id().toString();
    String b = holdfast.enqueue(Job.of("b").queue("q2").parent(JobId.parse(a))).id().toString();
    String c = holdfast.enqueue(Job.of("b").queue("q1").run(run, "y")).id().toString();
    client.post("/v1/jobs/" + c + "/cancel", Map.of(), null).ok();
    assertThat(ids("/v1/jobs")).containsExactly(c, b, a);
    assertThat(ids("/api/v1/jobs?state=cancelled")).containsExactly(c);
    assertThat(ids("/v1/jobs?state=PENDING,CANCELLED&queue=q1")).containsExactly(c, a);
    assertThat(ids("/v1/jobs?kind=b")).containsExactly(c, b);
    assertThat(ids("/v1/jobs?runId=" + run)).containsExactly(c, a);
    assertThat(ids("/v1/jobs?runId=" + b)).containsExactly(b);
    assertThat(ids("/v1/jobs?parentId=" + a)).containsExactly(b);
  }

  @Test
  void jobs_are_found_by_the_time_they_were_enqueued() {
    List<String> made = new ArrayList<>();
    for (int hour = 10; hour < 13; hour++) {
      made.addFirst(created(Map.of("kind", "old")).get("id").asText());
    }
    for (int hour = 10; hour < 13; hour++) {
      createdAt(made.get(hour - 10), "2026-11-15T%d:00:00Z".formatted(hour));
    }
    String after = "createdAfter=2026-11-15T11:00:00Z";
    String before = "createdBefore=2026-11-15T13:00:00%2B01:00";
    assertThat(ids("/v1/jobs?kind=old&" + after)).containsExactly(made.get(2), made.get(1));
    assertThat(ids("/v1/jobs?kind=old&" + before)).containsExactly(made.get(1), made.get(0));
    assertThat(ids("/v1/jobs?" + after + "&" + before)).containsExactly(made.get(1));
    assertThat(ids("/v1/jobs?kind=old&" + before + "&cursor=" + cursor(made.get(2))))
        .containsExactly(made.get(1), made.get(0));
    assertThat(ids("/v1/jobs?kind=old&" + before + "&cursor=" + cursor(made.get(1))))
        .containsExactly(made.get(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "&kind=old", "&state=PENDING", "&q=old", "&tag=t"})
  void pages_lead_through_all_jobs_in_either_order(String filter) {
    List<String> made = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      made.add(holdfast.enqueue(Job.of("old").tags("t")).id().toString());
    }
    assertThat(throughPages("/v1/jobs?limit=2&order=oldest" + filter)).isEqualTo(made);
    assertThat(throughPages("/v1/jobs?limit=2&order=newest" + filter)).isEqualTo(made.reversed());
    assertThat(throughPages("/v1/jobs?limit=2" + filter)).isEqualTo(made.reversed());
  }

  private String cursor(String job) {
    return JobCursor.of(holdfast.queries().find(JobId.parse(job)).orElseThrow()).toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cursor=01a1dd46-efa0-7231-88cf-925231baa463",
        "cursor=2026-11-15T10:00:00Z_1",
        "cursor=soon_01a1dd46-efa0-7231-88cf-925231baa463",
        "cursor=-0001-01-01T00:00:00Z_01a1dd46-efa0-7231-88cf-925231baa463"
      })
  void a_cursor_that_no_page_returned_is_refused(String cursor) {
    client.get("/v1/jobs?" + cursor, null).is(422, "invalid_value");
    client.get("/v1/runs?" + cursor, null).is(422, "invalid_value");
  }

  private List<String> throughPages(String path) {
    List<String> ids = new ArrayList<>();
    String cursor = "";
    do {
      JsonNode page = client.get(path + cursor, null).ok();
      page.get("jobs").forEach(job -> ids.add(job.get("id").asText()));
      cursor = page.path("next").isTextual() ? "&cursor=" + page.get("next").asText() : "";
    } while (!cursor.isEmpty());
    return ids;
  }

  @Test
  void jobs_are_sorted_by_what_an_index_has_and_by_nothing_else() {
    client.get("/v1/jobs?order=kind", null).is(422, "invalid_value");
    List<String> made = new ArrayList<>();
    for (int hour = 0; hour < 3; hour++) {
      made.add(created(Map.of("kind", "old")).get("id").asText());
      createdAt(made.getLast(), "2026-11-15T%d:00:00Z".formatted(10 + hour));
    }
    // A cursor from before the range does not extend it.
    assertThat(
            ids(
                "/v1/jobs?order=oldest&createdAfter=2026-11-15T11:00:00Z&createdBefore=2026-11-15T12:00:00Z&cursor="
                    + cursor(made.getFirst())))
        .containsExactly(made.get(1));
  }

  @Test
  void jobs_of_a_filter_are_counted_up_to_a_limit() {
    holdfast.enqueue(IntStream.range(0, 7).mapToObj(i -> Job.of("many")).toList());
    holdfast.enqueue(Job.of("one"));
    JsonNode count = client.get("/v1/jobs/count?kind=many&state=PENDING", null).ok();
    assertThat(count.get("count").asInt()).isEqualTo(7);
    assertThat(count.get("more").asBoolean()).isFalse();
    assertThat(client.get("/v1/jobs/count?q=MAN", null).ok().get("count").asInt()).isEqualTo(7);
    assertThat(client.get("/v1/jobs/count?tenant=acme", null).ok().get("count").asInt()).isZero();
    client.get("/v1/jobs/count?limit=3", null).is(422, "unknown_parameter");
    holdfast.enqueue(IntStream.range(0, 9_994).mapToObj(i -> Job.of("many")).toList());
    JsonNode most = client.get("/v1/jobs/count?kind=many", null).ok();
    assertThat(most.get("count").asInt()).isEqualTo(10_000);
    assertThat(most.get("more").asBoolean()).isTrue();
  }

  @Test
  void a_page_omits_long_values_and_marks_them() {
    Json large = new Json("{\"text\": \"" + "a7K".repeat(300_000) + "\"}");
    List<Job> jobs =
        IntStream.range(0, 10).mapToObj(i -> Job.of("large", large).queue(QUEUE)).toList();
    holdfast.enqueue(jobs);
    JobId small = holdfast.enqueue(Job.of("small", new Json("{\"n\":1}")).queue("other")).id();
    for (LeasedJob job :
        holdfast.jobs().claim(new ClaimRequest(QUEUE, 5, "w", Duration.ofMinutes(5))).jobs()) {
      holdfast.jobs().settle(new Settlement.Succeed(job.lease(), large));
    }
    LeasedJob failed =
        holdfast
            .jobs()
            .claim(new ClaimRequest(QUEUE, 1, "w", Duration.ofMinutes(5)))
            .jobs()
            .getFirst();
    holdfast
        .jobs()
        .settle(
            new Settlement.Fail(
                failed.lease(),
                Failure.of(FailureCategory.USER_CODE, "E", "no").withStackTrace("at x"),
                Duration.ZERO));

    JsonNode page = client.get("/v1/jobs?limit=200", null).ok();
    assertThat(page.toString()).hasSizeLessThan(20_000);
    Map<String, JsonNode> byId = new HashMap<>();
    page.get("jobs").forEach(job -> byId.put(job.get("id").asText(), job));
    assertThat(byId).hasSize(11);
    JsonNode whole = byId.get(small.toString());
    assertThat(whole.get("payload").toString()).isEqualTo("{\"n\":1}");
    assertThat(whole.has("omitted")).isFalse();
    JsonNode cut = byId.get(failed.id().toString());
    assertThat(cut.has("payload")).isFalse();
    assertThat(cut.get("omitted").toString()).isEqualTo("[\"payload\",\"failure.stackTrace\"]");
    assertThat(cut.get("failure").get("message").asText()).isEqualTo("no");
    assertThat(page.get("jobs").toString()).contains("[\"payload\",\"result\"]");

    JsonNode one = client.get("/v1/jobs/" + failed.id(), null).ok();
    assertThat(one.get("payload").get("text").asText()).hasSize(900_000);
    assertThat(one.get("failure").get("stackTrace").asText()).isEqualTo("at x");
    assertThat(one.has("omitted")).isFalse();
    for (String query : List.of("?brief=true", "?q=large&limit=20", "?kind=large")) {
      assertThat(client.get("/v1/jobs" + query, null).ok().toString()).hasSizeLessThan(20_000);
    }
    try (HttpOperator remote = new HttpOperator(server.url(), null)) {
      assertThat(remote.jobs().list(JobFilter.ALL))
          .filteredOn(job -> job.kind().equals("large"))
          .hasSize(10)
          .allMatch(job -> job.omitted().contains(JobStatus.PAYLOAD));
    }
  }

  @Test
  void a_brief_list_omits_fields_that_can_be_long() {
    created(Map.of("kind", "send-mail", "payload", Map.of("to", "ada")));
    db.sql(
        "UPDATE holdfast.job SET failure ="
            + " '{\"category\":\"USER_CODE\",\"code\":\"X\",\"message\":\"m\",\"retryable\":true,"
            + "\"stackTrace\":\"at\"}'");
    JsonNode job = client.get("/v1/jobs?brief=true", null).ok().get("jobs").get(0);
    assertThat(job.has("payload")).isFalse();
    assertThat(job.get("omitted"))
        .extracting(JsonNode::asText)
        .containsExactly(JobStatus.PAYLOAD, JobStatus.STACK_TRACE);
    assertThat(job.get("failure").get("message").asText()).isEqualTo("m");
    assertThat(job.get("failure").has("stackTrace")).isFalse();
    assertThat(client.get("/v1/jobs", null).ok().get("jobs").get(0).has("payload")).isTrue();
  }

  @Test
  void a_search_matches_ids_kinds_keys_failures_and_payloads() {
    String mail =
        created(Map.of("kind", "send-mail", "payload", Map.of("to", "Ada@Example.org")))
            .get("id")
            .asText();
    String report =
        created(Map.of("kind", "report", "uniqueKey", "UK-77", "runKey", "month-end"))
            .get("id")
            .asText();
    db.sql(
        "UPDATE holdfast.job SET failure ="
            + " '{\"category\":\"USER_CODE\",\"code\":\"X\",\"message\":\"100% of_it broke\","
            + "\"retryable\":true}' WHERE id = ?::uuid",
        report);
    assertThat(ids("/v1/jobs?q=ada@example")).containsExactly(mail);
    assertThat(ids("/v1/jobs?q=MAIL")).containsExactly(mail);
    assertThat(ids("/v1/jobs?q=" + mail.substring(10))).containsExactly(mail);
    assertThat(ids("/v1/jobs?q=uk-77")).containsExactly(report);
    assertThat(ids("/v1/jobs?q=month-end")).containsExactly(report);
    assertThat(ids("/v1/jobs?q=100%25%20of_it")).containsExactly(report);
    assertThat(ids("/v1/jobs?q=ofXit")).isEmpty();
    assertThat(ids("/v1/jobs?q=mail&state=FAILED")).isEmpty();
    assertThat(client.get("/v1/jobs?q=mail", null).ok().get("searchComplete").asBoolean()).isTrue();
    assertThat(client.get("/v1/jobs", null).ok().has("searchComplete")).isFalse();
  }
}
