package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.server.Flow;
import dev.holdfast.server.live.ResponseCacheTest;
import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.page.Browser;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A page that stays open for long and under load: few requests, bounded memory. */
@OnlyWithAll
public class OpenPageTest extends InBrowser {
  private static final int JOBS_SEEN = Extent.of(1_500, 4_000);
  private static final int ROUNDS = 6;

  OpenPageTest(TestDatabase db) {
    super(db);
  }

  @Test
  void a_page_has_one_stream_and_keeps_a_bounded_number_of_jobs() {
    open("");
    for (String page : PAGES) {
      browser.go(page);
      browser.awaitElement("main h1");
    }
    for (int i = 0; i < 4; i++) {
      holdfast.enqueue(
          IntStream.range(0, 400).mapToObj(n -> Job.of("bulk").queue("many")).toList());
      int most = i;
      Awaitility.await()
          .atMost(TIMEOUT)
          .until(() -> live("live.jobs.size") >= Math.min(1_000, 400 * (most + 1)));
    }
    assertThat(live("live.jobs.size")).isEqualTo(1_000);
    assertThat(client.get("/metrics", null).response().body())
        .containsPattern("server_live_subscribers(\\{[^}]*})? 1\\.0");
  }

  /** Like a page left open overnight: thousands of jobs change while the user navigates. */
  @Test
  @OnlyWithRelease
  void the_memory_of_an_open_page_does_not_grow() {
    enqueued();
    JsonNode task = leased();
    open("");
    assertThat(
            browser.later(
                """
                const done = arguments[0];
                window.seen = 0;
                %s.then(({live}) => {
                  live.addEventListener('change', (event) => (window.seen += event.jobs.size));
                  done('listening');
                });
                """
                    .formatted(LIVE)))
        .isEqualTo("listening");
    // The first is for what is made once: caches, compiled code, the thousand jobs that are kept.
    Browser.Held first = lookAtManyJobs(task, JOBS_SEEN / 2);
    // A leak grows every time; a bounded buffer, such as that of a plot, stops growing once full.
    List<Browser.Held> sizes = new ArrayList<>(List.of(first));
    while (grows(sizes) && sizes.size() <= ROUNDS) {
      sizes.add(lookAtManyJobs(task, JOBS_SEEN));
    }
    assertThat(grows(sizes)).as("grows, by %s", sizes).isFalse();
  }

  private static boolean grows(List<Browser.Held> sizes) {
    if (sizes.size() == 1) {
      return true;
    }
    Browser.Held last = sizes.getLast();
    Browser.Held before = sizes.get(sizes.size() - 2);
    return last.heapBytes() >= before.heapBytes() + JOBS_SEEN * 200
        || last.nodes() >= before.nodes() + 300
        || last.listeners() >= before.listeners() + 60;
  }

  private Browser.Held lookAtManyJobs(JsonNode task, int jobs) {
    String[] pages = {"#/jobs", job(task), "#/workers", "#/queues", "#/"};
    long seen = Browser.number(browser.script("return window.seen"));
    for (int i = 0; i < pages.length; i++) {
      // Elements are not requested here: the driver keeps a reference to each one.
      browser.go(pages[i]);
      long enough = seen + (long) jobs * (i + 1) / pages.length;
      Awaitility.await()
          .atMost(TIMEOUT.multipliedBy(2))
          .until(
              () -> {
                Flow.once(holdfast, "flow", 300);
                callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).ok();
                return Browser.number(browser.script("return window.seen")) >= enough;
              });
    }
    browser.awaitText("work");
    return browser.held();
  }

  /** All but the stream, since the page was loaded or it was last asked. */
  private List<String> asked() {
    Object paths =
        browser.script(
            """
            const asked = performance.getEntriesByType('resource')
              .map(entry => new URL(entry.name)).filter(url => url.pathname.startsWith('/v1/'))
              .map(url => url.pathname + url.search);
            performance.clearResourceTimings();
            return asked.join(' ');
            """);
    return Stream.of(String.valueOf(paths).split(" ")).filter(path -> !path.isEmpty()).toList();
  }

  /** One that lists jobs and one that shows a single job; all of them with './test --release'. */
  static IntStream views() {
    return Extent.isRelease()
        ? IntStream.rangeClosed(0, PAGES.length)
        : IntStream.of(2, PAGES.length);
  }

  /** There is no schedule and no run, so nothing of the job is on those pages. */
  private static String shown(int view) {
    String page = view < PAGES.length ? PAGES[view] : "";
    return switch (page) {
      case "#/schedules" -> "Schedules";
      case "#/notices" -> "There is no notice";
      case "#/runs" -> "No job has a run";
      default -> "work";
    };
  }

  @ParameterizedTest
  @MethodSource("views")
  void an_open_page_sends_few_requests_under_load_and_none_when_idle(int view)
      throws InterruptedException {
    supervised(HealthStatus.HEALTHY);
    enqueued();
    JsonNode task = leased();
    String id = task.get("taskId").asText();
    open(view < PAGES.length ? PAGES[view] : job(task));
    browser.awaitText(shown(view));
    Awaitility.await().atMost(TIMEOUT).until(() -> live("live.jobs.size") >= 1);
    if (view == 0) {
      // The past of the plots is read bit by bit, slowly on a busy machine; the lease must last.
      awaitQuiet(view, () -> heartbeat(task, 1));
    }
    var unused = asked();
    List<String> busy = new ArrayList<>();
    long start = System.nanoTime();
    try (Flow flowing = Flow.of(holdfast, "flow")) {
      assertThat(flowing).isNotNull();
      for (int i = 0; i < 4; i++) {
        heartbeat(task, 10 + i);
        Thread.sleep(1_000);
      }
      busy.addAll(asked());
    }
    double seconds = Duration.ofNanos(System.nanoTime() - start).toMillis() / 1_000.0;
    assertThat(busy)
        .as("asked in %.1f s", seconds)
        .hasSizeLessThanOrEqualTo((int) Math.ceil(seconds) + 1)
        .allMatch(
            path -> ResponseCacheTest.VIEWS.get(view).contains(path.replace(id, "JOB")),
            "is known");
    if (view == PAGES.length) {
      callback(
              task,
              "completed",
              Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED", "output", Map.of()))
          .ok();
    }
    // The page still requests what the last events announced.
    awaitQuiet(view, () -> {});
  }

  private void awaitQuiet(int view, Runnable meanwhile) {
    Awaitility.await()
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofSeconds(3))
        .until(
            () -> {
              meanwhile.run();
              return asked().size() <= ResponseCacheTest.VIEWS.get(view).size() / 3;
            });
  }

  private void heartbeat(JsonNode task, int percent) {
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1", "progressPct", percent))
        .ok();
  }
}
