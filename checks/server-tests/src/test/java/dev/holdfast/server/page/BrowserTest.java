package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;

/** The pages of the assembled program, in Chromium. */
@OnlyWithAll
class BrowserTest extends PageFixture {
  BrowserTest(TestDatabase db) {
    super(db);
  }

  // ---- each page

  @Test
  void the_overview_shows_throughput_and_findings() {
    enqueued();
    fail(leased(), "it broke");
    enqueued();
    callback(leased(), "heartbeat", Map.of("attempt", 1, "workerId", "w1", "progressPct", 45)).ok();
    holdfast.enqueue(Job.of("echo").queue("other"));
    open("");
    browser.awaitText("1 failed job", "45 %", "other", "Ended jobs per second");
    assertThat(browser.script("return document.querySelectorAll('canvas').length")).isEqualTo(3L);
    // The plot shows ended jobs and is not empty.
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () ->
                assertThat(
                        browser.script(
                            "return document.querySelector('hf-chart').series[1].data"
                                + ".some(value => value > 0)"))
                    .isEqualTo(true));
    browser.press("6 h");
    browser.awaitText("The last 6 h");
    browser.awaitElement(".problems a[href^='#/jobs']").click();
    browser.awaitText("it broke", "BROKEN");
  }

  @Test
  void the_queues_show_pending_jobs_and_are_paused_and_resumed() {
    enqueued();
    client.patch("/v1/queues/work/limits", Map.of("maxRunning", 7), null).ok();
    open("#/queues");
    browser.awaitText("work", "7");
    String row = "//tr[starts-with(normalize-space(.), 'work')]";
    browser.press(row, "Pause");
    browser.awaitText("Queue work is paused");
    browser.press(row, "Resume");
    browser.awaitText("Queue work is resumed");
    assertThat(client.get("/v1/queues/work", null).ok().get("pausedAt").isNull()).isTrue();
  }

  @Test
  void jobs_are_found_by_state_queue_kind_time_and_text_and_page_by_page() {
    holdfast.enqueue(IntStream.range(0, 60).mapToObj(i -> Job.of("bulk").queue("many")).toList());
    JobId mail =
        holdfast.enqueue(Job.of("mail", Map.of("to", "Ada@Example.org")).queue("post")).id();
    String old = "00000000-0000-7000-8000-0000000000aa";
    client.post("/v1/jobs", Map.of("id", old, "kind", "ancient"), null).created();
    db.sql("UPDATE holdfast.job SET created_at = '2020-01-01' WHERE kind = 'ancient'");
    open("#/jobs");
    browser.awaitText("…" + mail.toString().substring(28));
    browser.press("Older");
    browser.awaitText("…000000aa");
    browser.press("Newer");
    browser.awaitNoText("…000000aa");
    browser.type("#search", "ada@example", Keys.ENTER);
    browser.awaitNoText("bulk");
    browser.awaitText("…" + mail.toString().substring(28));
    browser.go("#/jobs?queue=many&state=PENDING&minutes=60");
    browser.awaitText("bulk");
    browser.go("#/jobs?kind=ancient");
    browser.awaitText("…000000aa");
    browser.go("#/jobs?kind=ancient&minutes=10080");
    browser.awaitText("No job matches");
  }

  @Test
  void a_job_shows_all_its_details() {
    holdfast.enqueue(Job.of("echo", Map.of("rows", 9_007_199_254_740_993L)).queue(QUEUE));
    JsonNode task = leased();
    step(task, "fetch", 1, "RUNNING");
    step(task, "fetch", 1, "DONE");
    step(task, "load", 2, "RUNNING");
    callback(
            task,
            "heartbeat",
            Map.of("attempt", 1, "workerId", "w1", "progressPct", 45, "message", "halfway"))
        .ok();
    open(job(task));
    browser.awaitText("running", "45 %", "halfway", "fetch", "load", "Attempts", "w1");
    browser.go(job(task) + "?tab=events");
    browser.awaitText("created", "processing");
    browser.go(job(task) + "?tab=data");
    // To the last digit, beyond the integers of JavaScript.
    browser.awaitText("9007199254740993");
    browser.go(job(task));
    browser.awaitElement("svg.timeline");
    assertThat(browser.has("svg.timeline rect.s-running")).isTrue();
    assertThat(browser.has("svg.timeline rect.s-lease")).isTrue();
    fail(task, "it broke\nin the second line");
    browser.awaitText("BROKEN", "in the second line", "Retry");
    browser.awaitElement("svg.timeline rect.s-failed");
    assertThat(browser.has("svg.timeline rect.s-running")).isFalse();
    browser.go("#/jobs/" + JobId.next());
    browser.awaitText("there is no job");
    expectedErrors.add("404");
  }

  @Test
  void the_info_has_versions_problems_and_what_to_do() {
    open("#/info");
    browser.awaitText("PostgreSQL", "Schema", "None.", "this server has no API keys");
    assertThat(browser.text()).doesNotContain("development");
    holdfast.admin().pauseAllWorkers();
    enqueued();
    browser.awaitText("All workers are paused since", "and 1 job waits", "Resume all workers");
    browser.awaitText("degraded");
  }

  @Test
  void a_queue_is_shown_as_paused_while_all_workers_are() {
    enqueued();
    open("#/queues");
    browser.awaitText("work");
    holdfast.admin().pauseAllWorkers();
    browser.awaitText("all workers paused", "Pause");
    browser.go("#/queues/work");
    browser.awaitText("all workers paused", "Pause");
    holdfast.admin().resumeAllWorkers();
    browser.awaitNoText("all workers paused");
  }

  @Test
  void the_info_has_the_settings_and_where_each_came_from() {
    open("#/info");
    browser.awaitText(
        "server.port", "HOLDFAST_SERVER_PORT", "option", "echo <img src=x onerror=hit=1>");
    assertThat(browser.text()).doesNotContain("log.level");
    browser.awaitElement("section[aria-labelledby=settings] summary").click();
    browser.awaitText("log.level", "default");
    assertThat(browser.has("main img")).isFalse();
  }

  /** 4.5 to 1 is what WCAG asks for in text of this size. */
  @ParameterizedTest
  @ValueSource(strings = {"light", "dark"})
  void texts_have_enough_contrast_with_their_background(String theme) {
    supervised(HealthStatus.HEALTHY);
    enqueued();
    fail(leased(), "it broke");
    holdfast.enqueue(Job.of("echo").queue("other"));
    JobId cancelled = enqueued();
    holdfast.cancel(cancelled, "enough");
    enqueued();
    JsonNode running = leased();
    step(running, "load", 1, "RUNNING");
    open("");
    browser.script("document.documentElement.dataset.theme = arguments[0]", theme);
    for (String page :
        List.of(
            "#/",
            "#/queues",
            "#/jobs",
            "#/failures",
            "#/workers",
            "#/info",
            job(running),
            job(running) + "?tab=events",
            job(running) + "?tab=data")) {
      browser.go(page);
      browser.awaitElement("main h1");
      browser.awaitText(page.equals("#/info") ? "PostgreSQL" : "work");
      assertThat(String.valueOf(browser.script(Contrast.TOO_WEAK))).as(page).isEmpty();
    }
  }

  @Test
  void the_page_can_be_operated_by_keyboard_alone() {
    enqueued();
    open("");
    browser.type("body", "g", "j");
    browser.awaitText("All jobs:");
    Awaitility.await().atMost(TIMEOUT).until(() -> browser.focused().equals("h1"));
    browser.type("body", "/");
    Awaitility.await().atMost(TIMEOUT).until(() -> browser.focused().equals("input"));
    browser.go("#/queues");
    browser.awaitText("Oldest due");
    browser.open(server.url(), "");
    browser.awaitLive();
    browser.type("body", Keys.TAB);
    assertThat(browser.script("return document.activeElement.textContent"))
        .isEqualTo("Skip to the content");
    browser.type("a.skip", Keys.ENTER);
    assertThat(browser.focused()).isEqualTo("main");
  }

  @Test
  void light_and_dark_are_chosen_and_remembered() {
    open("");
    String background = "return getComputedStyle(document.body).backgroundColor";
    browser.press("system colours");
    Object light = browser.script(background);
    browser.press("light colours");
    Object dark = browser.script(background);
    assertThat(dark).isNotEqualTo(light);
    open("#/info");
    assertThat(browser.script(background)).isEqualTo(dark);
    browser.press("dark colours");
    browser.awaitText("system");
  }
}
