package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.page.Browser;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** The first steps after cloning the repository, in order, in its root. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FreshCloneTest {
  /** It unpacks a server and creates a database, perhaps on a machine that has more to do. */
  private static final Duration FIRST_START = Duration.ofMinutes(10);

  private static final Duration PLAY = Duration.ofMinutes(5);
  private static final String ID = "([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})";

  /** The views in the menu of the page. */
  private static final String LINKS =
      "return [...document.querySelectorAll('nav a')].map(a => a.getAttribute('href'))";

  /** The first worker that the page shows. */
  private static final String WORKER =
      "return document.querySelector('main a[href^=\"#/workers/\"]').getAttribute('href')";

  private final Path clone = FreshClone.built();
  private final String mark = UUID.randomUUID().toString();
  private final int port = NewUser.freePort();
  private final List<ChildProcess> children = new ArrayList<>();
  private ChildProcess dev;
  private URI page;

  /** The job that is enqueued first and still exists at the end. */
  private String first;

  private final UUID runId = UUID.randomUUID();

  // Not in the constructor: if that fails, nothing that it has started is ended.
  @BeforeAll
  void start() throws IOException {
    FreshClone.delete(clone.resolve(".holdfast"));
    dev = begin("./holdfast", "dev");
    dev.awaitLine("^ready in", FIRST_START);
    page = URI.create(dev.awaitLine("^ +page +(http://\\S+)", SOON).group(1));
    assertThat(page.getPort()).isEqualTo(port);
    first = id(run("./holdfast", "enqueue", "echo", "{\"n\": 1}", "--watch"));
    post("{\"kind\": \"echo\", \"runId\": \"%s\", \"runKey\": \"step-1\"}".formatted(runId));
  }

  private String post(String job) {
    String json = "Content-Type: application/json";
    List<String> answer = run("curl", "-sS", "--fail", "-H", json, "-d", job, page + "/v1/jobs");
    return answer.getLast().replaceFirst(".*\"id\":\"" + ID + "\".*", "$1");
  }

  private ChildProcess begin(String... command) {
    // Tests that run in the background ignore Ctrl-C, and so do their child processes.
    List<String> heeding = new ArrayList<>(List.of("env", "--default-signal=INT"));
    heeding.addAll(List.of(command));
    ProcessBuilder builder = new ProcessBuilder(heeding).directory(clone.toFile());
    NewUser.environment(builder.environment());
    NewUser.mark(builder.environment(), mark);
    builder.environment().put("HOLDFAST_SERVER_PORT", Integer.toString(port));
    ChildProcess child = ChildProcess.start(builder);
    children.add(child);
    return child;
  }

  private List<String> run(String... command) {
    ChildProcess child = begin(command);
    assertThat(child.awaitExit(PLAY)).as("%s", String.join("\n", child.lines())).isZero();
    return child.lines();
  }

  private static String id(List<String> lines) {
    return lines.stream().filter(line -> line.matches(ID)).findFirst().orElseThrow();
  }

  @AfterAll
  void leaveNothing() {
    children.forEach(ChildProcess::close);
    NewUser.kill(mark);
  }

  @Test
  @Order(1)
  void everything_that_the_page_refers_to_is_served() throws Exception {
    Assets.Fetched fetched = Assets.of(page.resolve("/"));
    assertThat(fetched.wrong()).isEmpty();
    // The digest of all files is part of each address.
    assertThat(fetched.all())
        .extracting(file -> file.getPath().replaceFirst("^/page/v-[0-9a-f]{16}/", "/page/"))
        .contains("/page/style.css", "/page/app.js", "/page/lit/index.js", "/page/jobs.js")
        .anyMatch(path -> path.startsWith("/page/lit-html/directives/"))
        .anyMatch(path -> path.startsWith("/page/chart.js/chunks/"));
  }

  @Test
  @Order(2)
  void every_view_of_the_page_shows_something_and_no_error() {
    Map<String, List<String>> views = new LinkedHashMap<>();
    views.put("#/", List.of("Overview", "Ended jobs per second"));
    views.put("#/queues", List.of("Queues", "default"));
    views.put("#/jobs", List.of("Jobs", "echo", "succeeded"));
    views.put("#/runs", List.of("Runs", "echo", "succeeded"));
    views.put("#/failures", List.of("Failures", "No job has failed"));
    views.put("#/schedules", List.of("Schedules", "There is no schedule"));
    views.put("#/notices", List.of("Notices", "HOLDFAST_NOTIFY_URL"));
    views.put("#/workers", List.of("Workers", "worker:default:0", "healthy"));
    views.put("#/info", List.of("Info", "PostgreSQL", "HOLDFAST_SERVER_PORT"));
    Map<String, List<String>> details = new LinkedHashMap<>();
    details.put("#/queues/default", List.of("default", "echo", "worker:default:0"));
    details.put("#/jobs/" + first, List.of("echo", "succeeded", first));
    details.put("#/runs/" + runId, List.of("echo", "succeeded", "step-1"));
    try (Browser browser = Browser.start()) {
      views.forEach((view, texts) -> see(browser, view, texts));
      assertThat((List<?>) browser.script(LINKS)).isEqualTo(List.copyOf(views.keySet()));
      see(browser, "#/workers", views.get("#/workers"));
      // Its address names its supervisor too.
      details.put((String) browser.script(WORKER), List.of("worker:default:0", "healthy"));
      details.forEach((view, texts) -> see(browser, view, texts));
    }
  }

  /** Opens the page by its URL and waits until it shows these texts. */
  private void see(Browser browser, String view, List<String> texts) {
    browser.open(page, view);
    browser.awaitLive();
    browser.awaitElement("main h1");
    browser.awaitText(texts.toArray(String[]::new));
    assertThat(browser.has("main .notice.bad")).as(view).isFalse();
    assertThat(browser.errors()).as(view).isEmpty();
  }

  /** The README runs it too. */
  @Test
  @Order(3)
  @OnlyWithRelease
  void the_demo_plays_to_its_end() {
    assertThat(run("./holdfast", "demo"))
        .anyMatch(line -> line.contains("!! kill -9 of worker:demo:0"))
        .anyMatch(line -> line.contains("its worker is gone; it was requeued"))
        .anyMatch(line -> line.contains("endless     has stopped, as requested"))
        .anyMatch(line -> line.contains("toxic       is given up: TOXIC_JOB"))
        .anyMatch(line -> line.contains("agent       a step is stuck; it is tried again"))
        .anyMatch(line -> line.contains("agent       the same failure again"))
        .anyMatch(line -> line.contains("0 lost, 0 run twice"));
    assertThat(clone.resolve(".holdfast"))
        .isDirectoryNotContaining(path -> path.getFileName().toString().startsWith("demo-"));
  }

  @Test
  @Order(4)
  void jobs_enqueued_by_hand_and_over_http_succeed() {
    List<String> watched = run("./holdfast", "enqueue", "sleep", "{\"seconds\": 1}", "--watch");
    assertThat(watched.getLast()).isEqualTo(id(watched) + " SUCCEEDED  {\"slept\": 1.0}");
    String id = post("{\"kind\": \"sleep\", \"payload\": {\"seconds\": 1}}");
    Awaitility.await()
        .atMost(SOON)
        .until(
            () -> run("curl", "-sS", "--fail", page + "/v1/jobs/" + id + "/result"),
            result -> result.getLast().contains("\"state\":\"SUCCEEDED\",\"result\":{\"slept\""));
  }

  @Test
  @Order(5)
  void after_ctrl_c_no_process_is_left() {
    dev.signal("INT");
    assertThat(dev.awaitExit(SOON)).as("%s", dev.lines()).isZero();
    assertThat(dev.lines()).endsWith("stopped");
    assertThat(NewUser.left(mark)).isEmpty();
    assertThat(NewUser.isFree(port)).isTrue();
    assertThat(run("flock", "--nonblock", ".holdfast/lock", "true")).isEmpty();
  }

  @Test
  @Order(6)
  @OnlyWithAll
  void a_restart_keeps_all_jobs() {
    ChildProcess again = begin("./holdfast", "dev");
    again.awaitLine("^ready in", SOON);
    assertThat(run("./holdfast", "jobs", "show", first).getFirst()).contains("SUCCEEDED");
    again.signal("INT");
    assertThat(again.awaitExit(SOON)).as("%s", again.lines()).isZero();
    assertThat(NewUser.left(mark)).isEmpty();
  }
}
