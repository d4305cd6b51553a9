package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.page.Browser;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;

/** Finding jobs and failures on the page, and what is offered to do about problems. */
@OnlyWithAll
class FindPageTest extends InBrowser {
  FindPageTest(TestDatabase db) {
    super(db);
  }

  private JobId failed(String kind, String message) {
    JobId id = holdfast.enqueue(Job.of(kind).queue(QUEUE).maxAttempts(1)).id();
    callback(
            leased(),
            "completed",
            failedBody(
                1,
                Map.of(
                    "category",
                    "USER_CODE",
                    "code",
                    "SMTP",
                    "message",
                    message,
                    "retryable",
                    true)))
        .ok();
    return id;
  }

  private static String end(JobId job) {
    return "…" + job.toString().substring(28);
  }

  // ---- jobs

  @Test
  void jobs_are_found_by_a_search_that_is_part_of_the_url() {
    holdfast.enqueue(IntStream.range(0, 9).mapToObj(i -> Job.of("bulk").queue("many")).toList());
    JobId mail = holdfast.enqueue(Job.of("mail", Map.of("customer", "c499")).queue("post")).id();
    open("#/jobs");
    browser.awaitText("bulk");
    browser.type("#search", "kind:mail payload.customer:c499", Keys.ENTER);
    browser.awaitNoText(" bulk");
    browser.awaitText(end(mail));
    assertThat(browser.script("return decodeURIComponent(location.hash)"))
        .isEqualTo("#/jobs?search=kind:mail+payload.customer:c499");
    browser.go("#/jobs?search=state:gone");
    browser.awaitText("'gone' is not a state");
    expectedErrors.add("422");
  }

  @Test
  void a_text_is_found_however_old_its_job_is() {
    JobId needle = holdfast.enqueue(Job.of("needle").queue("many")).id();
    for (int i = 0; i < 2; i++) {
      holdfast.enqueue(
          IntStream.range(0, 9_000).mapToObj(n -> Job.of("bulk").queue("many")).toList());
    }
    open("#/jobs?q=needle");
    browser.awaitText(end(needle));
    browser.go("#/jobs?search=nowhere");
    browser.awaitText("No job matches");
  }

  @Test
  void counts_beside_the_list_narrow_the_search() {
    holdfast.enqueue(List.of(Job.of("mail").queue("post"), Job.of("mail").queue("slow")));
    holdfast.enqueue(Job.of("report").queue("slow"));
    failed("mail", "no");
    open("#/jobs");
    browser.awaitText("All jobs:");
    String slow = ".facets a[href*='queue%3Aslow']";
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(browser.awaitElement(slow).getText()).contains("2"));
    browser.awaitElement(slow).click();
    browser.awaitElement(".facets a[href*='kind%3Areport']").click();
    browser.awaitNoText("smtp");
    Awaitility.await().atMost(TIMEOUT).until(() -> rows() == 1);
    assertThat(browser.script("return document.getElementById('search').value"))
        .isEqualTo("queue:slow kind:report");
  }

  private long rows() {
    return Browser.number(
        browser.script("return document.querySelectorAll('table.jobs tbody tr').length"));
  }

  @Test
  void the_cause_comes_first_and_columns_are_sorted() {
    failed("b-kind", "550 mailbox unavailable");
    failed("a-kind", "timeout");
    open("#/jobs");
    browser.awaitText("550 mailbox unavailable");
    assertThat(browser.awaitElement("table.jobs tbody tr").getText())
        .contains("timeout SMTP")
        .contains("RETRIES_EXHAUSTED")
        .doesNotContain("1 of 1 attempts");
    browser.awaitElement("th a.sort[href*='sort=kind']").click();
    browser.awaitElement("th[aria-sort=ascending] a.sort[href*='sort=-kind']");
    assertThat(browser.awaitElement("table.jobs tbody tr").getText()).contains("a-kind");
    browser.awaitElement("th a.sort[href*='sort=-kind']").click();
    browser.awaitElement("th[aria-sort=descending]");
    assertThat(browser.awaitElement("table.jobs tbody tr").getText()).contains("b-kind");
  }

  @Test
  void all_jobs_are_sorted_by_age_and_the_page_says_when_only_its_own_jobs_are_sorted() {
    JobId oldest = holdfast.enqueue(Job.of("z-kind").queue("many")).id();
    holdfast.enqueue(IntStream.range(0, 60).mapToObj(n -> Job.of("a-kind").queue("many")).toList());
    open("#/jobs?search=queue:many");
    Awaitility.await().atMost(TIMEOUT).until(() -> rows() == 50);
    browser.awaitElement("th a.sort[href*='sort=-kind'], th a.sort[href*='sort=kind']").click();
    browser.awaitText("Sorted by kind: the 50 jobs of this page only");
    assertThat(browser.awaitElement("table.jobs tbody").getText()).doesNotContain("z-kind");
    browser.go("#/jobs?search=queue:many");
    browser.awaitElement("th[aria-sort=ascending] a.sort[href*='sort=-age']").click();
    browser.awaitElement("th[aria-sort=descending] a.sort[title='Sort all jobs: newest first']");
    Awaitility.await()
        .atMost(TIMEOUT)
        .until(() -> browser.awaitElement("table.jobs tbody").getText().contains("z-kind"));
    assertThat(browser.awaitElement("table.jobs tbody tr").getText()).contains(end(oldest));
    assertThat(browser.disabledButtons()).contains("Oldest", "Older").doesNotContain("Newer");
    browser.press("Newer");
    Awaitility.await().atMost(TIMEOUT).until(() -> rows() == 11);
  }

  @Test
  void only_actions_that_apply_to_the_selected_jobs_are_offered() {
    String failed = failed("mail", "no").toString();
    enqueued();
    open("#/jobs");
    // Not the list of the test before, which the server may still have in its cache.
    browser.awaitText(failed.substring(failed.length() - 8));
    browser.check("tr:has(.s-failed) input[type=checkbox]");
    browser.awaitText("1 selected");
    assertThat(browser.disabledButtons()).contains("Cancel …").doesNotContain("Retry …");
    browser.check("tr:has(.s-pending) input[type=checkbox]");
    browser.awaitText("2 selected");
    browser.press("Retry …");
    browser.answer("", "Retry 1 job");
    browser.awaitText("1 requeued");
  }

  // ---- failures

  @Test
  void failures_with_the_same_cause_are_one_row_and_are_retried_together() {
    failed("mail", "order 17: no mailbox");
    failed("mail", "order 18: no mailbox");
    failed("mail", "out of memory");
    open("#/failures");
    browser.awaitText("order #: no mailbox", "out of memory", "SMTP");
    String row = "//tr[contains(., 'no mailbox')]";
    browser.press(row, "Retry …");
    browser.awaitText("Retry 2 jobs?");
    browser.answer("", "Retry 2 jobs");
    browser.awaitNoText("no mailbox");
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE state = 'PENDING'")).isEqualTo(2);
    browser.awaitElement("td a[href*='failure%3A']").click();
    browser.awaitText("out of memory", "All that match:");
  }

  // ---- problems

  @Test
  void each_problem_shows_a_remedy() {
    supervised(HealthStatus.HEALTHY);
    enqueued();
    holdfast.admin().pause(QUEUE);
    holdfast.admin().pauseAllWorkers();
    open("");
    browser.awaitText("All workers are paused since", "Queue 'work' is paused and 1 job waits");
    assertThat(browser.text()).doesNotContain("POST /v1");
    browser.press("Resume all workers");
    browser.awaitNoText("All workers are paused since");
    browser.press("//li[@data-code='queue_paused']", "Resume queue");
    browser.awaitText("No problems.");
    assertThat(client.get("/v1/queues/work", null).ok().get("pausedAt").isNull()).isTrue();
  }

  // ---- one job

  @Test
  void a_waiting_job_shows_what_it_waits_for() {
    JobId first = holdfast.enqueue(Job.of("fetch").queue("other")).id();
    JobId job = holdfast.enqueue(Job.of("load").queue("other").dependsOn(first)).id();
    JobId last = holdfast.enqueue(Job.of("mail").queue("other").dependsOn(job)).id();
    open("#/jobs/" + job);
    browser.awaitText("Waits for 1 job to end.", "pending · " + end(first));
    browser.awaitText("waiting · " + end(last));
    browser.awaitElement("a[href='#/jobs/" + first + "']");
    holdfast.cancel(first, "enough");
    browser.awaitNoText("Waits for 1 job to end.");
  }

  @Test
  void long_progress_is_folded_and_attempts_are_compared() {
    JobId id = holdfast.enqueue(Job.of("mail").queue(QUEUE)).id();
    leased();
    db.sql(
        """
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        SELECT ?, 100 + n, 'progress', 1, now(), jsonb_build_object('percent', n)
          FROM generate_series(1, 5) AS n
        """,
        id.value());
    db.sql("UPDATE holdfast.job SET attempt = 3 WHERE id = ?", id.value());
    db.sql(
        """
        INSERT INTO holdfast.attempt (job_id, attempt, outcome, worker_id, started_at, ended_at,
                                      started_event_number, failure)
        SELECT ?, n, 'FAILED', 'w' || n, now(), now(), n,
               jsonb_build_object('category', 'USER_CODE', 'code', 'X', 'retryable', true,
                                  'message', 'order ' || n || ' broke')
          FROM generate_series(1, 2) AS n
        """,
        id.value());
    open("#/jobs/" + id + "?tab=events");
    browser.awaitText("101–105", "Show 4 more reports of progress");
    browser.press("Show 4 more reports of progress");
    browser.awaitNoText("101–105");
    browser.go("#/jobs/" + id);
    browser.awaitText("order 1 broke", "as attempt 1");
  }

  // ---- queues and schedules

  @Test
  void a_schedule_is_created_changed_run_paused_and_deleted() {
    open("#/schedules");
    browser.awaitText("There is no schedule");
    browser.press("New schedule …");
    browser.type("dialog input[name=name]", "nightly");
    browser.awaitElement("dialog input[name=zone]").clear();
    browser.type("dialog input[name=zone]", "UTC");
    browser.type("dialog input[name=kind]", "report");
    browser.press("//dialog", "Create");
    browser.awaitText("nightly fires next", "0 3 * * *");
    JsonNode made = client.get("/v1/schedules/nightly", null).ok();
    assertThat(made.get("upcoming")).hasSize(5);
    assertThat(made.at("/upcoming/0")).isEqualTo(made.get("nextFireAt"));
    browser.press("Run now nightly");
    browser.answer("", "Run now");
    browser.awaitText("Enqueued …");
    assertThat(db.queryOne(String.class, "SELECT kind FROM holdfast.job")).isEqualTo("report");
    client
        .put(
            "/v1/schedules/nightly",
            Map.of("cron", "0 3 * * *", "kind", "report", "maxAttempts", 7),
            null)
        .ok();
    open("#/schedules");
    browser.press("Change nightly");
    browser.awaitElement("dialog input[name=cron]").clear();
    browser.type("dialog input[name=cron]", "@hourly");
    browser.press("//dialog", "Change");
    Awaitility.await().atMost(TIMEOUT).until(() -> !browser.has("dialog[open]"));
    JsonNode changed = client.get("/v1/schedules/nightly", null).ok();
    assertThat(changed.at("/cron").asText()).isNotEqualTo("0 3 * * *");
    assertThat(changed.at("/maxAttempts").asInt()).as("what the form does not have").isEqualTo(7);
    browser.press("Pause nightly");
    browser.awaitText("Schedule nightly is paused");
    browser.press("Delete nightly");
    browser.answer("", "Delete");
    browser.awaitText("There is no schedule");
  }

  @Test
  void a_queue_shows_its_kinds_and_workers_and_its_limits_are_set() {
    supervised(HealthStatus.HEALTHY);
    enqueued();
    open("#/queues");
    browser.awaitElement("td a[href='#/queues/work']").click();
    browser.awaitText("echo", "worker:work:0", "Rate limit");
    browser.press("Limits …");
    browser.type("dialog input[name=maxRunning]", "7");
    browser.type("dialog input[name=starts]", "100");
    browser.press("//dialog", "Set limits");
    browser.awaitText("A rate needs both");
    browser.type("dialog input[name=seconds]", "60");
    browser.answer("", "Set limits");
    browser.awaitText("0 of 7", "100 per 1 min");
    JsonNode queue = client.get("/v1/queues/work", null).ok();
    assertThat(queue.get("maxRunning").asInt()).isEqualTo(7);
    assertThat(queue.at("/rateLimit/periodMs").asLong()).isEqualTo(60_000);
    browser.press("Pause");
    browser.awaitText("Queue work is paused");
  }

  // ---- accessibility

  @ParameterizedTest
  @ValueSource(strings = {"light", "dark"})
  void axe_finds_nothing_serious_in_any_view(String theme) {
    supervised(HealthStatus.HEALTHY);
    JobId failed = failed("mail", "no mailbox");
    JobId first = holdfast.enqueue(Job.of("fetch").queue("other")).id();
    JobId waiting = holdfast.enqueue(Job.of("load").queue("other").dependsOn(first)).id();
    client.put("/v1/schedules/nightly", Map.of("cron", "0 3 * * *", "kind", "report"), null).ok();
    holdfast.admin().pause("other");
    open("");
    browser.script("document.documentElement.dataset.theme = arguments[0]", theme);
    List<String> views = new ArrayList<>(List.of(PAGES));
    views.addAll(List.of("#/queues/other", "#/jobs/" + failed, "#/jobs/" + waiting));
    views.add("#/jobs/" + failed + "?tab=data");
    views.add("#/jobs/" + failed + "?tab=events");
    for (String view : views) {
      browser.go(view);
      browser.awaitElement("main h1");
      browser.awaitNoText("Loading …");
      assertThat(Axe.violations(browser)).as(view).isEmpty();
      for (int width : new int[] {1400, 400}) {
        browser.width(width);
        browser.picture(
            Path.of(
                "target",
                "pictures",
                "%02d-%s-%d.png".formatted(views.indexOf(view), theme, width)));
        assertThat(browser.overflow()).as("%s at %d", view, width).isLessThanOrEqualTo(0);
      }
    }
    browser.type("body", "?");
    browser.awaitElement("dialog[open]");
    assertThat(Axe.violations(browser)).as("shortcuts").isEmpty();
  }

  // ---- shortcuts and times

  @Test
  void shortcuts_are_listed_and_times_are_local_or_utc() {
    enqueued();
    open("#/info");
    browser.type("body", "?");
    browser.awaitText("Keyboard shortcuts", "search jobs", "failures");
    browser.press("//dialog", "Close");
    browser.type("body", "g", "f");
    browser.awaitText("No job has failed");
    browser.type("body", "u");
    browser.awaitText("UTC");
    browser.press("UTC time");
    browser.awaitText("local");
  }
}
