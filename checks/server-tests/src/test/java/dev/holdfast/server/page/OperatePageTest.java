package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.health.WorkerLogs;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.page.Browser;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Enqueueing on the page, runs as graphs, workers with their logs, and changes as one patch. */
@OnlyWithAll
class OperatePageTest extends InBrowser {
  private static final String WORKER = "worker:work:0";
  private static final WorkerLogs.Name LOG = new WorkerLogs.Name("here", WORKER);

  OperatePageTest(TestDatabase db) {
    super(db);
  }

  private void fill(String field, String text) {
    browser.awaitElement("dialog [name=" + field + "]").clear();
    browser.type("dialog [name=" + field + "]", text);
  }

  private JsonNode newest() {
    return client.get("/v1/jobs?limit=1", null).ok().at("/jobs/0");
  }

  // ---- enqueueing

  @Test
  void a_job_is_enqueued_and_an_error_in_its_payload_is_located() {
    holdfast.enqueue(Job.of("mail").queue("post"));
    open("#/jobs");
    browser.press("Enqueue …");
    browser.awaitElement("#kind-list option[value=mail]");
    fill("kind", "report");
    fill("queue", "reports");
    fill("payload", "{\n  \"days\": 1\n  \"of\": 9007199254740993\n}");
    fill("delay", "soon");
    browser.press("//dialog", "Enqueue");
    browser.awaitText("The payload is not JSON, line 3, column 3");
    assertThat(browser.script("return document.activeElement.name")).isEqualTo("payload");
    assertThat(Browser.number(browser.script("return document.activeElement.selectionStart")))
        .isEqualTo("{\n  \"days\": 1\n  ".length());
    fill("payload", "{\"days\": 1, \"of\": 9007199254740993}");
    browser.press("//dialog", "Enqueue");
    browser.awaitText("'soon' is not a time");
    fill("delay", "1h30m");
    fill("priority", "2");
    fill("key", "daily");
    browser.answer("", "Enqueue");
    browser.awaitText("Enqueued …", "report");
    JsonNode job = newest();
    assertThat(job.get("queue").asText()).isEqualTo("reports");
    assertThat(job.at("/payload/of").asLong()).isEqualTo(9_007_199_254_740_993L);
    assertThat(job.get("priority").asInt()).isEqualTo(2);
    assertThat(job.get("uniqueKey").asText()).isEqualTo("daily");
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.job"
                    + " WHERE run_at > created_at + interval '89 minutes'"))
        .isEqualTo(1);
  }

  @Test
  void a_job_is_run_again_with_other_values_and_the_original_is_unchanged() {
    JobId first =
        holdfast
            .enqueue(
                Job.of("mail", Map.of("to", "ada", "n", 9_007_199_254_740_993L))
                    .queue("post")
                    .priority(1)
                    .maxAttempts(7)
                    .uniqueKey("ada"))
            .id();
    open("#/jobs/" + first);
    browser.press("Run again, edited …");
    browser.awaitText("Run mail again");
    assertThat(
            String.valueOf(
                browser.script("return document.querySelector('dialog textarea').value")))
        .contains("\"n\": 9007199254740993");
    fill("payload", "{\"to\": \"eve\"}");
    browser.answer("", "Enqueue");
    browser.awaitText("A job with this key has not ended yet: this is it");
    browser.press("Run again, edited …");
    fill("payload", "{\"to\": \"eve\"}");
    browser.awaitElement("dialog [name=key]").clear();
    browser.answer("", "Enqueue");
    browser.awaitText("Enqueued …");
    JsonNode again = newest();
    assertThat(again.get("id").asText()).isNotEqualTo(first.toString());
    assertThat(again.at("/payload/to").asText()).isEqualTo("eve");
    assertThat(again.get("queue").asText()).isEqualTo("post");
    assertThat(again.get("priority").asInt()).isEqualTo(1);
    assertThat(again.get("maxAttempts").asInt()).isEqualTo(7);
    assertThat(client.get("/v1/jobs/" + first, null).ok().at("/payload/to").asText())
        .isEqualTo("ada");
  }

  // ---- runs

  private JobId run() {
    JobId run = JobId.next();
    Job fetch = Job.of("fetch").id(run).queue(QUEUE).run(run, "fetch");
    Job left = Job.of("parse").queue("other").run(run, "parse left").dependsOn(run);
    Job right = Job.of("parse").queue("other").run(run, "parse right").dependsOn(run);
    Job load = Job.of("load").queue("other").run(run, "load").dependsOn(left.id(), right.id());
    holdfast.enqueue(List.of(fetch, left, right, load));
    return run;
  }

  @Test
  void a_run_is_shown_as_a_graph_that_follows_the_states_of_its_jobs() {
    JobId run = run();
    open("#/runs");
    browser.awaitText("fetch", "pending");
    browser.awaitElement("a[href='#/runs/" + run + "']").click();
    browser.awaitText("parse left", "parse right", "waiting 3");
    assertThat(browser.script("return document.querySelectorAll('path.g-edge').length"))
        .isEqualTo(4L);
    // From left to right: what waits stands to the right of what it waits for.
    assertThat(
            browser.script(
                "return new Set([...document.querySelectorAll('.g-box')].map(box => box.getAttribute('x'))).size"))
        .isEqualTo(3L);
    JsonNode task = leased();
    browser.awaitElement("svg .t-bar.s-running");
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1", "progressPct", 45)).ok();
    browser.awaitText("running · 45 %");
    holdfast.cancel(run, "enough");
    callback(task, "completed", Map.of("attempt", 1, "workerId", "w1", "outcome", "CANCELLED"))
        .ok();
    browser.awaitElement("svg .t-bar.s-cancelled");
    browser.awaitElement("svg a[href='#/jobs/" + run + "']").click();
    browser.awaitElement("nav.crumbs");
    browser.go("#/runs/" + JobId.next());
    browser.awaitText("there is no run");
    expectedErrors.add("404");
  }

  // ---- workers

  private void crashed() {
    WorkerProcesses processes = holdfast.store().workers().processes();
    processes.ended(
        new WorkerProcesses.Place("here", WORKER, 1),
        HealthStatus.CRASHED,
        137,
        "exit 137 (SIGKILL): killed",
        Duration.ZERO);
    WorkerProcesses.Place next = new WorkerProcesses.Place("here", WORKER, 2);
    processes.starting(next, 1, false);
    processes.spawned(next, 4_712, Instant.now());
    processes.beat(next, HealthStatus.HEALTHY, 4_712, null, new Json("{}"));
  }

  private void print(int piece, String text) {
    holdfast.store().workers().logs().write(LOG, List.of(new LogPiece(0, piece, text)));
  }

  @Test
  void a_worker_shows_its_restart_reason_its_jobs_and_its_output() {
    supervised(HealthStatus.HEALTHY);
    crashed();
    print(1, "ready <img src=x onerror=hit=1>\n");
    JobId job = holdfast.enqueue(Job.of("echo").queue(QUEUE)).id();
    String name = WorkerHealth.namePrefix(WORKER, "host", 4_712) + "a1b2";
    holdfast.jobs().claim(new ClaimRequest(QUEUE, 1, name, Duration.ofMinutes(5)));
    open("#/workers");
    browser.awaitElement("td a[href^='#/workers/worker']").click();
    browser.awaitText("exit 137 (SIGKILL): killed", "1 crashed, 0 stopped", "4712");
    browser.awaitText("ready <img src=x onerror=hit=1>");
    browser.awaitElement("section[aria-labelledby=doing] a[href='#/jobs/" + job + "']");
    browser.script("document.querySelector('hf-worker').refresh = () => {}");
    print(1, "ready <img src=x onerror=hit=1>\nclaimed one\n");
    browser.awaitText("claimed one");
    print(2, "line\n".repeat(500) + "the last\n");
    browser.awaitText("the last");
    assertThat(
            browser.script(
                "const log = document.querySelector('pre.log');"
                    + " return log.scrollHeight - log.scrollTop - log.clientHeight < 40"
                    + " && log.scrollTop > 0"))
        .isEqualTo(true);
    assertThat(browser.has("main img")).isFalse();
    browser.script("delete document.querySelector('hf-worker').refresh");
    browser.press("Pause " + WORKER);
    browser.answer("a new release", "Pause");
    browser.awaitText("Sent pause to " + WORKER);
  }

  // ---- changes

  private static Patch patch(String file, String from, String to) {
    return Patch.of(
        """
        diff --git a/%1$s b/%1$s
        index 1111111..2222222 100644
        --- a/%1$s
        +++ b/%1$s
        @@ -1 +1 @@
        -%2$s
        +%3$s
        """
            .formatted(file, from, to)
            .getBytes(StandardCharsets.UTF_8));
  }

  private static Report.Step done(Lease lease, String id, int index, Patch patch) {
    Json left = new Json("{}");
    return new Report.Step(
        lease, id, index, StepState.DONE, 1, false, left, patch, null, null, List.of());
  }

  private JobId patched() {
    JobId job = holdfast.enqueue(Job.of("workspace").queue("agents")).id();
    holdfast.jobs().claim(new ClaimRequest("agents", 1, "w1", Duration.ofMinutes(5)));
    Lease lease = new Lease(job, 1);
    holdfast
        .jobs()
        .report(
            List.of(
                done(lease, "write", 1, patch("a.txt", "one", "two")),
                done(lease, "mend", 2, patch("a.txt", "two", "three"))));
    return job;
  }

  @Test
  void the_changes_of_all_steps_are_one_patch() {
    JobId job = patched();
    open("#/jobs/" + job);
    browser.awaitText("1 file", "a.txt +2 −2 write, mend", "+three");
    assertThat(browser.script("return document.querySelectorAll('details.diff').length"))
        .isEqualTo(1L);
    assertThat(browser.script("return document.querySelectorAll('.line.added').length"))
        .isEqualTo(2L);
    browser.press("By step");
    browser.awaitText("a.txt +1 −1 write", "a.txt +1 −1 mend");
    assertThat(browser.awaitElement("hf-diff a[download]").getAttribute("href"))
        .isEqualTo(server.url() + "/v1/jobs/" + job + "/patch");
  }

  // ---- accessibility

  @ParameterizedTest
  @ValueSource(strings = {"light", "dark"})
  void axe_finds_nothing_serious_in_these_views(String theme) {
    supervised(HealthStatus.HEALTHY);
    crashed();
    print(1, "ready\n");
    JobId run = run();
    List<String> views =
        List.of(
            "#/runs",
            "#/runs/" + run,
            "#/workers/worker:work:0?supervisor=here",
            "#/jobs/" + patched(),
            "#/jobs");
    open("");
    browser.script("document.documentElement.dataset.theme = arguments[0]", theme);
    for (String view : views) {
      browser.go(view);
      browser.awaitElement("main h1");
      browser.awaitNoText("Loading …");
      if (view.equals("#/jobs")) {
        browser.press("Enqueue …");
        browser.awaitElement("dialog[open]");
      }
      assertThat(Axe.violations(browser)).as(view).isEmpty();
      assertThat(String.valueOf(browser.script(Contrast.TOO_WEAK))).as(view).isEmpty();
      for (int width : new int[] {1400, 400}) {
        browser.width(width);
        browser.picture(
            Path.of(
                "target",
                "pictures",
                "operate-%02d-%s-%d.png".formatted(views.indexOf(view), theme, width)));
        assertThat(browser.overflow()).as("%s at %d", view, width).isLessThanOrEqualTo(0);
      }
    }
  }
}
