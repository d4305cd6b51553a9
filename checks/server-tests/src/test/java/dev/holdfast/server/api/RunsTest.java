package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Runs as they are listed and drawn, and jobs found by a part of their ids. */
class RunsTest extends ServerTest {
  RunsTest(TestDatabase db) {
    super(db);
  }

  private JsonNode get(String path) {
    return client.get(path, null).ok();
  }

  private static List<String> ids(JsonNode list) {
    return list.valueStream().map(each -> each.get("id").asText()).toList();
  }

  /** A first job whose id is that of the run, and two that depend on it. */
  private List<Job> ingest() {
    JobId run = JobId.next();
    Job fetch = Job.of("fetch").id(run).queue(QUEUE).run(run, "fetch");
    Job load = Job.of("load").queue(QUEUE).run(run, "load books").dependsOn(fetch.id());
    Job mail = Job.of("mail").queue(QUEUE).run(run, "mail").dependsOn(load.id()).parent(run);
    List<Job> jobs = List.of(fetch, load, mail);
    holdfast.enqueue(jobs);
    return jobs;
  }

  @Test
  void a_run_lists_its_jobs_with_their_states_and_dependencies() {
    List<Job> jobs = ingest();
    JobId run = jobs.getFirst().id();
    JsonNode waiting = get("/v1/runs/" + run);
    assertThat(waiting.at("/run/state").asText()).isEqualTo("PENDING");
    JsonNode task = leased();
    JsonNode graph = get("/v1/runs/" + run);
    assertThat(ids(graph.get("jobs")))
        .containsExactlyElementsOf(jobs.stream().map(job -> job.id().toString()).toList());
    assertThat(graph.at("/jobs/0/state").asText()).isEqualTo("RUNNING");
    assertThat(graph.at("/jobs/1/runKey").asText()).isEqualTo("load books");
    assertThat(graph.at("/jobs/2/parentId").asText()).isEqualTo(run.toString());
    assertThat(graph.get("dependencies")).hasSize(2);
    assertThat(graph.at("/dependencies/0/jobId").asText()).isEqualTo(jobs.get(1).id().toString());
    assertThat(graph.at("/dependencies/0/dependsOnId").asText()).isEqualTo(run.toString());
    assertThat(graph.at("/run/state").asText()).isEqualTo("RUNNING");
    assertThat(graph.at("/run/kind").asText()).isEqualTo("fetch");
    assertThat(graph.at("/run/states/WAITING").asInt()).isEqualTo(2);
    assertThat(graph.at("/run/finishedAt").isMissingNode()).isTrue();
    callback(
            task,
            "completed",
            failedBody(
                1,
                Map.of("category", "USER_CODE", "code", "X", "message", "no", "retryable", false)))
        .ok();
    assertThat(get("/v1/runs/" + run).at("/jobs/0/failureCode").asText()).isEqualTo("X");
    client.get("/v1/runs/" + JobId.next(), null).is(404, "not_found");
  }

  @Test
  void the_state_of_an_ended_run_follows_from_its_jobs() {
    List<Job> jobs = ingest();
    JobId run = jobs.getFirst().id();
    db.sql("UPDATE holdfast.job SET state = 'SUCCEEDED', finished_at = now()");
    assertThat(get("/v1/runs").at("/runs/0/state").asText()).isEqualTo("SUCCEEDED");
    assertThat(get("/v1/runs").at("/runs/0/finishedAt").asText()).endsWith("Z");
    db.sql("UPDATE holdfast.job SET state = 'CANCELLED' WHERE id = ?", jobs.get(2).id().value());
    assertThat(get("/v1/runs").at("/runs/0/state").asText()).isEqualTo("CANCELLED");
    db.sql("UPDATE holdfast.job SET state = 'FAILED' WHERE id = ?", jobs.get(1).id().value());
    assertThat(get("/v1/runs/" + run).at("/run/state").asText()).isEqualTo("FAILED");
  }

  @Test
  void runs_are_listed_newest_first_in_pages_without_jobs_outside_a_run() {
    enqueued();
    JobId first = ingest().getFirst().id();
    // Not the id of any job.
    JobId second = JobId.next();
    holdfast.enqueue(Job.of("echo").queue(QUEUE).run(second, "a"));
    JobId third = ingest().getFirst().id();
    JsonNode page = get("/v1/runs?limit=2");
    assertThat(ids(page.get("runs"))).containsExactly(third.toString(), second.toString());
    assertThat(page.at("/runs/1/jobs").asInt()).isEqualTo(1);
    JsonNode next = get("/v1/runs?limit=2&cursor=" + page.get("next").asText());
    assertThat(ids(next.get("runs"))).containsExactly(first.toString());
    assertThat(next.at("/runs/0/jobs").asInt()).isEqualTo(3);
    assertThat(next.has("next")).isFalse();
  }

  @Test
  void a_tenant_sees_its_own_runs_and_ids() {
    List<Job> jobs = ingest();
    JobId run = jobs.getFirst().id();
    String other = key(Role.VIEWER, "acme");
    assertThat(client.get("/v1/runs", other).ok().get("runs")).isEmpty();
    client.get("/v1/runs/" + run, other).is(404, "not_found");
    assertThat(client.get("/v1/jobs/ids?part=" + run, other).ok().get("ids")).isEmpty();
    holdfast.enqueue(Job.of("echo").queue(QUEUE).run(run, "acme").owner("acme", "default"));
    assertThat(client.get("/v1/runs/" + run, other).ok().get("jobs")).hasSize(1);
    assertThat(client.get("/v1/runs", other).ok().at("/runs/0/jobs").asInt()).isEqualTo(1);
  }

  @Test
  void a_job_is_found_by_the_beginning_or_the_end_of_its_id() {
    String one = "00000000-0000-7000-8000-0000000000aa";
    String two = "00000000-0000-7000-8000-0000000000ab";
    client.post("/v1/jobs", Map.of("id", one, "kind", "x"), null).created();
    client.post("/v1/jobs", Map.of("id", two, "kind", "x"), null).created();
    assertThat(found("00aa")).containsExactly(one);
    assertThat(found("0-0000000000AB")).containsExactly(two);
    assertThat(found("00000000-0000-7000")).containsExactly(two, one);
    assertThat(found("0000-7000-8000")).isEmpty();
    assertThat(found(one)).containsExactly(one);
    client.get("/v1/jobs/ids?part=0aa", null).is(400, "bad_id");
    client.get("/v1/jobs/ids?part=0xaaa", null).is(400, "bad_id");
    client.get("/v1/jobs/ids", null).is(422, "invalid_value");
  }

  private List<String> found(String part) {
    return get("/v1/jobs/ids?part=" + part).get("ids").valueStream().map(JsonNode::asText).toList();
  }
}
