package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Why a job does not run, what it is about, and what can be done about it, also on a phone. */
@OnlyWithAll
class AnswersPageTest extends InBrowser {
  /** Those that are out of the window, which nobody can press. */
  private static final String OUT_OF_SIGHT =
      """
      return [...document.querySelectorAll('main button, main td')]
        .filter(each => each.checkVisibility() && each.getBoundingClientRect().right > innerWidth + 1)
        .map(each => each.textContent.trim()).join('; ')
      """;

  AnswersPageTest(TestDatabase db) {
    super(db);
  }

  private void fill(String field, String text) {
    browser.awaitElement("dialog [name=" + field + "]").clear();
    browser.type("dialog [name=" + field + "]", text);
  }

  @Test
  void a_job_that_is_due_says_why_it_does_not_run_and_what_to_do() {
    JobId delayed = holdfast.enqueue(Job.of("mail").queue(QUEUE).delay(Duration.ofHours(2))).id();
    open("#/jobs/" + delayed);
    browser.awaitText("Why it does not run", "It is due in 1 h 59 min");
    JobId due = holdfast.enqueue(Job.of("mail").queue(QUEUE)).id();
    holdfast.admin().pause(QUEUE);
    browser.go("#/jobs/" + due);
    browser.awaitText("Queue 'work' is paused and 1 job waits in it");
    browser.press("Resume queue");
    browser.awaitText("It waits for a worker with a free slot");
    leased();
    browser.awaitNoText("Why it does not run");
  }

  @Test
  void a_job_that_nobody_has_claimed_is_changed_and_one_that_has_ended_is_deleted() {
    JobId id =
        holdfast
            .enqueue(Job.of("mail", Map.of("n", 1)).queue(QUEUE).delay(Duration.ofHours(2)))
            .id();
    open("#/jobs/" + id);
    browser.press("Change …");
    browser.press("//dialog", "Change the job");
    browser.awaitText("Nothing is changed");
    fill("priority", "1");
    fill("payload", "{\"n\": 9007199254740993}");
    browser.press("//dialog", "Change the job");
    browser.awaitText("Changed");
    JsonNode changed = client.get("/v1/jobs/" + id, null).ok();
    assertThat(changed.get("priority").asInt()).isEqualTo(1);
    assertThat(changed.at("/payload/n").asLong()).isEqualTo(9_007_199_254_740_993L);
    assertThat(browser.buttons()).doesNotContain("Delete …");
    holdfast.cancel(id, "enough");
    browser.press("Delete …");
    browser.press("//dialog", "Delete the job");
    browser.awaitText("Deleted", "All jobs:");
    assertThat(client.get("/v1/jobs/" + id, null).response().statusCode()).isEqualTo(404);
    expectedErrors.add("404");
  }

  @Test
  void the_jobs_of_a_run_are_cancelled_and_retried_together() {
    JobId run = JobId.next();
    JobId first = holdfast.enqueue(Job.of("fetch").queue(QUEUE).run(run, "fetch")).id();
    holdfast.enqueue(Job.of("load").queue(QUEUE).run(run, "load").dependsOn(first));
    holdfast.enqueue(Job.of("other").queue(QUEUE));
    open("#/runs/" + run);
    browser.press("Cancel …");
    browser.answer("enough", "Cancel 2 jobs");
    browser.awaitText("2 cancelled, or asked to stop");
    browser.press("Retry …");
    browser.press("//dialog", "Retry 2 jobs");
    browser.awaitText("2 requeued");
    assertThat(
            client.get("/v1/jobs/count?kind=other&state=PENDING", null).ok().get("count").asInt())
        .isEqualTo(1);
  }

  @Test
  void a_list_shows_payloads_and_a_job_its_tags() {
    JobId id =
        holdfast
            .enqueue(Job.of("mail", Map.of("customer", "c499")).queue(QUEUE).tags("customer:c499"))
            .id();
    holdfast.enqueue(Job.of("report").queue(QUEUE));
    open("#/jobs");
    browser.awaitText("\"customer\":\"c499\"", "report");
    browser.go("#/jobs/" + id);
    browser.awaitElement("dl a.code").click();
    browser.awaitNoText("report");
    browser.awaitText("\"customer\":\"c499\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"light", "dark"})
  void on_a_phone_nothing_is_cut_off_and_all_actions_are_in_sight(String theme) {
    supervised(HealthStatus.HEALTHY);
    JobId failed = holdfast.enqueue(Job.of("charge-card").queue(QUEUE).maxAttempts(1)).id();
    client
        .post(
            "/v1/tasks/" + failed + "/completed",
            failedBody(
                1,
                Map.of(
                    "category", "USER_CODE",
                    "code", "GATEWAY_TIMEOUT",
                    "message", "the payment gateway did not answer",
                    "retryable", false)),
            leased().get("taskToken").asText())
        .ok();
    holdfast.enqueue(Job.of("fetch").queue("a-queue-with-a-name-that-is-rather-long"));
    client.put("/v1/schedules/nightly", Map.of("cron", "0 3 * * *", "kind", "report"), null).ok();
    browser.width(400);
    open("");
    browser.script("document.documentElement.dataset.theme = arguments[0]", theme);
    for (String view :
        List.of(
            "#/jobs", "#/workers", "#/schedules", "#/failures", "#/queues", "#/jobs/" + failed)) {
      browser.go(view);
      browser.awaitElement("main h1");
      browser.awaitNoText("Loading …");
      browser.awaitElement("main td");
      assertThat(String.valueOf(browser.script(OUT_OF_SIGHT))).as(view).isEmpty();
      assertThat(Axe.violations(browser)).as(view).isEmpty();
      browser.picture(
          Path.of(
              "target",
              "pictures",
              "phone-%s-%s.png".formatted(view.replaceAll("[#/]+|[0-9a-f-]{36}", ""), theme)));
    }
    browser.go("#/jobs");
    browser.awaitText("the payment gateway did not answer");
    browser.go("#/workers");
    browser.awaitElement("td.r[data-name=Restarts]");
    assertThat(
            browser.script(
                "const page = document.querySelector('nav a[aria-current]').getBoundingClientRect();"
                    + " return page.left >= 0 && page.right <= innerWidth + 1"))
        .isEqualTo(true);
  }
}
