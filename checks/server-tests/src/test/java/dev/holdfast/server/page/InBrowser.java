package dev.holdfast.server.page;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.server.ApiTest;
import dev.holdfast.server.RunningServer;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.page.Browser;
import dev.holdfast.testkit.page.BrowserExtension;
import dev.holdfast.testkit.program.Processes;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What tests of the page share: Chromium, started once for all tests of this process, and the
 * assembled program with {@code holdfast server}, by default once for all tests of a class.
 */
@ExtendWith(BrowserExtension.class)
public abstract class InBrowser extends ApiTest {
  /** The module of the page itself: its address has a digest, and another address is a copy. */
  static final String LIVE =
      "import(new URL('live.js', document.querySelector('script[src$=\"/app.js\"]').src))";

  protected static final String[] PAGES = {
    "#/",
    "#/queues",
    "#/jobs",
    "#/workers",
    "#/info",
    "#/failures",
    "#/schedules",
    "#/runs",
    "#/notices"
  };
  protected static final Duration TIMEOUT = SOON;

  // The tables with data of a test. The key that signs tokens is the server's.
  private static final String NOTHING_YET =
      """
      DO $$ BEGIN
        EXECUTE (SELECT 'TRUNCATE ' || string_agg(format('holdfast.%I', tablename), ', ')
                   FROM pg_tables
                  WHERE schemaname = 'holdfast'
                    AND tablename NOT IN ('schema_version', 'schema_compatibility', 'signing_key'));
      END $$
      """;
  private static @Nullable Browser started;
  private static @Nullable RunningServer shared;

  protected final Browser browser;
  protected final List<String> expectedErrors = new ArrayList<>();

  protected InBrowser(TestDatabase db) {
    super(db);
    if (started == null) {
      throw new IllegalStateException("no browser");
    }
    this.browser = started;
  }

  /** The server of the class; it is started by the first test. */
  @Override
  public RunningServer startServer() {
    RunningServer running = shared;
    if (running == null) {
      running = ownServer();
      shared = running;
    } else {
      empty();
    }
    return new RunningServer(running.url(), () -> {});
  }

  /** Again where the server, which reads while tables are locked one by one, is in the way. */
  private void empty() {
    for (int tries = 1; ; tries++) {
      try {
        db.sql(NOTHING_YET);
        return;
      } catch (IllegalStateException failed) {
        if (tries == 5 || !String.valueOf(failed.getCause()).contains("deadlock")) {
          throw failed;
        }
      }
    }
  }

  /** A server that ends with the test. */
  protected final RunningServer ownServer() {
    db.sql(NOTHING_YET);
    return program(db, 0, this::configure);
  }

  /** What the server finds in the folder where it is started. */
  protected void configure(Path folder) {}

  /** Configured by what is put into the folder in which it is about to be started. */
  protected static RunningServer program(TestDatabase db, int port, Consumer<Path> configure) {
    Processes processes = new Processes();
    configure.accept(processes.folder());
    ChildProcess process =
        processes.launch("server", "--port", Integer.toString(port)).on(db).begin();
    String url = process.awaitLine("^ready: .* at (http\\S+)$", TIMEOUT).group(1);
    return new RunningServer(URI.create(url), processes::close);
  }

  /** The database is asked for here because it is then the same for all tests of the class. */
  @BeforeAll
  protected static void start(TestDatabase database, Browser browser) {
    assertThat(database.name()).isNotEmpty();
    started = browser;
  }

  @AfterAll
  protected static void stopServer() {
    if (shared != null) {
      shared.close();
      shared = null;
    }
  }

  @BeforeEach
  protected void beginAnew() {
    browser.reset();
  }

  @AfterEach
  protected void nothingWentWrongInTheBrowser() {
    assertThat(browser.errors())
        .allMatch(error -> expectedErrors.stream().anyMatch(error::contains), "is expected");
  }

  protected final void open(String page) {
    browser.open(server.url(), page);
    browser.awaitLive();
  }

  protected final void supervised(HealthStatus status) {
    WorkerRegistry health = holdfast.store().workers();
    WorkerProcesses.Place place = new WorkerProcesses.Place("here", "worker:work:0", 1);
    health.supervisors().appear(new Supervisors.Supervising("here", "host", 1, Instant.EPOCH));
    health.processes().starting(place, 0, false);
    health.processes().spawned(place, 4_711, Instant.EPOCH);
    health.processes().beat(place, status, 4_711, null, new Json("{}"));
  }

  protected final void step(JsonNode task, String id, int index, String state) {
    client
        .put(
            "/v1/tasks/" + task.get("taskId").asText() + "/steps/" + id,
            Map.of("attempt", 1, "stepIndex", index, "state", state, "stepAttempt", 1),
            task.get("taskToken").asText())
        .ok();
  }

  protected static String job(JsonNode task) {
    return "#/jobs/" + task.get("taskId").asText();
  }

  protected final long live(String what) {
    return Browser.number(
        browser.later(
            "const done = arguments[0]; " + LIVE + ".then(({live}) => done(%s))".formatted(what)));
  }
}
