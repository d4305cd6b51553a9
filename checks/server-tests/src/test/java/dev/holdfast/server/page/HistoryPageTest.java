package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.page.Browser;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** History on the page: a queue over minutes to days, and the last jobs of schedules. */
@OnlyWithAll
class HistoryPageTest extends InBrowser {
  // Three days of a queue with three kinds, in all steps that there are; nothing is known before.
  private static final String HISTORY =
      """
      INSERT INTO holdfast.history
      SELECT step, at, 'work', kind, 'default', jobs, jobs, jobs / 40, jobs / 90,
             ARRAY[18, 24, 30, 36]::smallint[], ARRAY[jobs * 6 / 10, jobs * 3 / 10, jobs / 14, jobs / 50],
             ARRAY[26, 34, 40, 44]::smallint[], ARRAY[jobs / 2, jobs * 4 / 10, jobs / 14, jobs / 50]
        FROM (SELECT step, at, kind, (step * (2 + rank + 2 * sin(date_part('epoch', at) / 7000)))::bigint AS jobs
                FROM (VALUES ('echo', 1), ('mail.send', 3), ('report.daily', 0)) AS kinds(kind, rank),
                     (VALUES (60, 480), (900, 104), (3600, 72)) AS steps(step, steps),
                     LATERAL (SELECT date_bin(step * interval '1 second', now(), 'epoch')
                                       - n * step * interval '1 second' AS at
                                FROM generate_series(1, steps) AS n) AS times) AS rows
      """;
  private static final String DEPTH =
      """
      INSERT INTO holdfast.queue_depth
      SELECT step_seconds, at, queue, (40 + 35 * sin(date_part('epoch', at) / 5000))::bigint, 8,
             (540000 + 500000 * sin(date_part('epoch', at) / 5000))::bigint
        FROM (SELECT DISTINCT step_seconds, at FROM holdfast.history) AS steps,
             (VALUES ('work'), ('')) AS queues(queue)
      """;
  private static final String CURSOR =
      """
      INSERT INTO holdfast.history_cursor (known_since, summed_until)
      SELECT min(at), date_bin('1 minute', now(), 'epoch') FROM holdfast.history
      """;

  HistoryPageTest(TestDatabase db) {
    super(db);
  }

  private void threeDays() {
    // At once: the server has a cursor of its own as soon as there is none.
    db.sql(
        String.join(
            ";",
            "TRUNCATE holdfast.history_cursor, holdfast.history, holdfast.queue_depth",
            HISTORY,
            DEPTH,
            CURSOR));
  }

  /** How many points of a series are drawn. */
  private long drawn(int chart, int series) {
    return number(
        "return document.querySelectorAll('hf-chart')[%d]?.series?.[%d]?.data.filter(v => v != null).length ?? -1"
            .formatted(chart, series));
  }

  private long number(String script) {
    return Browser.number(browser.script(script));
  }

  private void awaitDrawn(int chart, int series, int least, int most) {
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(drawn(chart, series)).isBetween((long) least, (long) most));
  }

  @ParameterizedTest
  @ValueSource(strings = {"light", "dark"})
  void a_queue_shows_its_history_over_minutes_to_days_and_by_kind(String theme) {
    supervised(HealthStatus.HEALTHY);
    enqueued();
    threeDays();
    open("#/queues/work");
    browser.script("document.documentElement.dataset.theme = arguments[0]", theme);
    browser.awaitText("The last 15 min", "mail.send", "report.daily", "worker:work:0", "Depth");
    // Depth, throughput, wait and run.
    assertThat(number("return document.querySelectorAll('canvas').length")).isEqualTo(4);
    awaitDrawn(2, 2, 14, 16);
    browser.press("24 h");
    browser.awaitText("The last 24 h");
    awaitDrawn(3, 1, 90, 97);
    awaitDrawn(0, 0, 90, 97);
    // How long the first of those that wait still has, beside those that ran.
    awaitDrawn(2, 3, 90, 97);
    assertThat(Axe.violations(browser)).isEmpty();
    picture("queue-24h", theme);
    browser.press("7 d");
    browser.awaitText("The last 7 d", "Known since", "left blank");
    awaitDrawn(1, 0, 35, 39);
    assertThat(number("return document.querySelector('hf-chart').labels.length"))
        .isBetween(84L, 86L);
    picture("queue-7d", theme);
    browser.press("mail.send");
    browser.awaitText("of kind mail.send", "All kinds");
    // Depth is not known by kind.
    assertThat(number("return document.querySelectorAll('canvas').length")).isEqualTo(3);
    assertThat(browser.script("return location.hash"))
        .isEqualTo("#/queues/work?minutes=10080&kind=mail.send");
    browser.press("All kinds");
    browser.press("6 h");
    awaitDrawn(1, 0, 70, 74);
    browser.go("#/");
    browser.awaitText("The last 15 min");
    browser.press("24 h");
    awaitDrawn(0, 0, 90, 97);
    picture("overview-24h", theme);
  }

  private void picture(String name, String theme) {
    for (int width : new int[] {400, 1400}) {
      browser.width(width);
      browser.picture(
          Path.of("target", "pictures", "history-%s-%s-%d.png".formatted(name, theme, width)));
      assertThat(browser.overflow()).as("%s at %d", name, width).isLessThanOrEqualTo(0);
    }
  }

  @Test
  void a_schedule_shows_its_last_jobs_and_their_states() {
    client.put("/v1/schedules/nightly", Map.of("cron", "0 3 * * *", "kind", "report"), null).ok();
    open("#/schedules");
    browser.awaitText("nightly", "none");
    List<JobId> jobs =
        List.of(
            holdfast.admin().runSchedule("nightly").orElseThrow().id(),
            holdfast.admin().runSchedule("nightly").orElseThrow().id(),
            holdfast.admin().runSchedule("nightly").orElseThrow().id());
    db.sql(
        "UPDATE holdfast.job SET state = 'SUCCEEDED', started_at = now(), finished_at = now() WHERE id = ?",
        jobs.get(0).value());
    db.sql(
        "UPDATE holdfast.job SET state = 'FAILED', started_at = now(), finished_at = now() WHERE id = ?",
        jobs.get(2).value());
    open("#/schedules");
    browser.awaitElement("td a[href='#/jobs/" + jobs.get(2) + "'] .s-failed");
    assertThat(browser.has(".runs a.s-succeeded[href='#/jobs/" + jobs.get(0) + "']")).isTrue();
    assertThat(browser.has(".runs a.s-pending[href='#/jobs/" + jobs.get(1) + "']")).isTrue();
    assertThat(Axe.violations(browser)).isEmpty();
    picture("schedules", "light");
  }
}
