package dev.holdfast.bench;

import dev.holdfast.server.HoldfastServer;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

/** How soon a browser shows the page where there are very many jobs and many events. */
final class PaintTrials {
  private static final int TIMES = 5;
  private static final int EVENTS_PER_SECOND = 10_000;

  /** An enqueue, a start and an end. */
  private static final int EVENTS_OF_A_JOB = 3;

  private static final int BATCHES_PER_SECOND = 10;

  /** Milliseconds since the page was asked for: the first paint, and when all data was there. */
  private static final String SHOWN =
      """
      const done = arguments[arguments.length - 1];
      const look = () => {
        const main = document.querySelector('main');
        const there = main?.querySelector('h1') && document.querySelector('#connection.live')
          && !main.textContent.includes('Loading …') && main.querySelector(arguments[0]);
        if (!there) return setTimeout(look, 10);
        const paint = performance.getEntriesByName('first-contentful-paint')[0];
        requestAnimationFrame(() => done([paint ? paint.startTime : -1, performance.now()]));
      };
      look();
      """;

  private final HoldfastContender holdfast;
  private final int jobs;

  PaintTrials(HoldfastContender holdfast, int jobs) {
    this.holdfast = holdfast;
    this.jobs = jobs;
  }

  Map<String, Callable<List<Sample>>> all() {
    return Map.of("paint", this::paint);
  }

  /** Of each view its address, and an element that is there when its data is. */
  private Map<String, List<String>> views() throws Exception {
    String job =
        holdfast.target().text("SELECT id FROM holdfast.job WHERE state = 'FAILED' LIMIT 1");
    Map<String, List<String>> views = new LinkedHashMap<>();
    views.put("overview", List.of("", "hf-chart canvas"));
    views.put("queues", List.of("#/queues", "tbody td a"));
    views.put("a queue", List.of("#/queues/q7", "hf-chart canvas"));
    views.put("jobs", List.of("#/jobs", "tbody td a.mono"));
    views.put("failed jobs", List.of("#/jobs?search=state:failed", "tbody td a.mono"));
    views.put("a job", List.of("#/jobs/" + job, "hf-timeline svg"));
    views.put("runs", List.of("#/runs", "tbody td"));
    views.put("failures", List.of("#/failures", "tbody td a"));
    views.put("schedules", List.of("#/schedules", "tbody td"));
    views.put("workers", List.of("#/workers", "tbody td"));
    views.put("info", List.of("#/info", "dl"));
    return views;
  }

  private List<Sample> paint() throws Exception {
    new PageTrials(holdfast, jobs).prepare();
    List<Sample> samples = new ArrayList<>();
    AtomicInteger ended = new AtomicInteger();
    AutoCloseable worker = holdfast.work(100, 0, number -> ended.incrementAndGet());
    Thread flow = flow();
    ChromeDriver browser = browser();
    try (HoldfastServer server = holdfast.server()) {
      long start = System.nanoTime();
      int before = ended.get();
      for (Map.Entry<String, List<String>> view : views().entrySet()) {
        samples.addAll(measured(view.getKey(), view.getValue(), server.url(), browser));
      }
      double perSecond = (ended.get() - before) / ((System.nanoTime() - start) / 1e9);
      samples.add(
          Sample.of("events meanwhile", "holdfast", "events/s", perSecond * EVENTS_OF_A_JOB));
    } finally {
      browser.quit();
      flow.interrupt();
      flow.join();
      worker.close();
    }
    holdfast.clear();
    return samples;
  }

  /** On Debian both come with the package chromium-driver. */
  private static ChromeDriver browser() {
    ChromeOptions options = new ChromeOptions();
    options.setBinary("/usr/bin/chromium");
    options.addArguments(
        "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000");
    options.setScriptTimeout(Duration.ofMinutes(1));
    return new ChromeDriver(
        new ChromeDriverService.Builder()
            .usingDriverExecutable(Path.of("/usr/bin/chromedriver").toFile())
            .build(),
        options);
  }

  /** Enqueues at a steady rate until it is interrupted. */
  private Thread flow() {
    int batch = EVENTS_PER_SECOND / EVENTS_OF_A_JOB / BATCHES_PER_SECOND;
    return Thread.ofPlatform()
        .name("flow")
        .start(
            () -> {
              long due = System.nanoTime();
              for (int first = 0; !Thread.currentThread().isInterrupted(); first += batch) {
                holdfast.enqueue(first, batch);
                due += 1_000_000_000L / BATCHES_PER_SECOND;
                Trials.sleep(Math.max(0, (due - System.nanoTime()) / 1_000_000));
              }
            });
  }

  private static List<Sample> measured(
      String view, List<String> address, URI server, ChromeDriver browser) {
    double[] paints = new double[TIMES];
    double[] shown = new double[TIMES];
    for (int i = 0; i < TIMES; i++) {
      browser.get("about:blank");
      browser.get(server + "/" + address.getFirst());
      List<?> times =
          (List<?>) Objects.requireNonNull(browser.executeAsyncScript(SHOWN, address.getLast()));
      paints[i] = ((Number) times.get(0)).doubleValue();
      shown[i] = ((Number) times.get(1)).doubleValue();
    }
    Arrays.sort(paints);
    Arrays.sort(shown);
    return List.of(
        Sample.of(view + ", first paint, median", "holdfast", "ms", paints[TIMES / 2]),
        Sample.of(view + ", first paint, worst", "holdfast", "ms", paints[TIMES - 1]),
        Sample.of(view + ", all data, median", "holdfast", "ms", shown[TIMES / 2]),
        Sample.of(view + ", all data, worst", "holdfast", "ms", shown[TIMES - 1]));
  }
}
