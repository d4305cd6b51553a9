package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.RunningServer;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** The page with missing or limited permissions; each test has its own server. */
@OnlyWithAll
public class BrowserSessionTest extends InBrowser {
  BrowserSessionTest(TestDatabase db) {
    super(db);
  }

  /** A browser without the session of another test. */
  @Override
  public RunningServer startServer() {
    return ownServer();
  }

  private void openAs(Role role, String page) {
    String key = key(role, null);
    // The server may cache for a moment that no key exists.
    expectedErrors.add("401");
    browser.open(server.url(), page);
    browser.awaitElement("input[name=key]");
    browser.type("input[name=key]", key, Keys.ENTER);
    browser.awaitLive();
  }

  @Test
  void viewers_do_not_see_the_settings() {
    openAs(Role.VIEWER, "#/info");
    browser.awaitText("PostgreSQL", "Timings of tasks over HTTP");
    assertThat(browser.text()).doesNotContain("Settings of this server");
  }

  @Test
  void the_page_asks_for_a_key_and_does_not_keep_it_where_scripts_can_read_it() {
    String key = key(Role.OPERATOR, null);
    browser.open(server.url(), "#/queues");
    browser.awaitText("This server requires an API key");
    browser.type("input[name=key]", "hf_000000000000_wrong", Keys.ENTER);
    browser.awaitText("unknown, revoked or expired");
    assertThat(browser.text())
        .contains("a key of role viewer can read everything and change nothing");
    expectedErrors.add("401");
    browser.awaitElement("input[name=key]").clear();
    browser.type("input[name=key]", key, Keys.ENTER);
    browser.awaitLive();
    browser.awaitText("Sign out");
    assertThat(browser.script("return document.cookie + JSON.stringify(localStorage)"))
        .isEqualTo("{}");
    browser.press("Sign out");
    browser.awaitText("This server requires an API key");
    assertThat(browser.later("fetch('/v1/jobs').then(answer => arguments[0](answer.status))"))
        .isEqualTo(401L);
  }

  @Test
  void a_viewer_can_read_everything_and_change_nothing() {
    supervised(HealthStatus.HEALTHY);
    enqueued();
    JsonNode task = leased();
    step(task, "load", 1, "RUNNING");
    openAs(Role.VIEWER, job(task));
    browser.awaitText("load", "running");
    assertThat(browser.buttons()).containsOnly("Copy id", "Copy curl");
    for (String page : new String[] {"#/queues", "#/workers", "#/jobs", "#/queues/work"}) {
      browser.go(page);
      browser.awaitText("work");
      assertThat(browser.buttons())
          .doesNotContain("Pause", "Stop", "Cancel …", "Retry …", "Enqueue …");
    }
    String tell =
        "fetch(arguments[0], {method: 'POST'}).then(answer => arguments[1](answer.status))";
    for (String path :
        List.of(
            "/v1/queues/work/pause",
            "/v1/workers/worker:work:0/stop",
            "/v1/jobs/" + task.get("taskId").asText() + "/cancel")) {
      assertThat(browser.later(tell, path)).as(path).isEqualTo(403L);
    }
    expectedErrors.add("403");
  }

  @Test
  void a_revoked_key_returns_to_the_sign_in_form() {
    String key = key(Role.VIEWER, null);
    key(Role.ADMIN, null);
    browser.open(server.url(), "");
    browser.type("input[name=key]", key, Keys.ENTER);
    browser.awaitLive();
    holdfast.store().admin().revokeKey(key.split("_", 3)[1], Duration.ZERO);
    expectedErrors.add("401");
    browser.awaitText("This server requires an API key");
  }
}
