package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.server.RunningServer;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A page during an outage of its server. */
@OnlyWithRelease
public class ServerOutagePageTest extends InBrowser {
  ServerOutagePageTest(TestDatabase db) {
    super(db);
  }

  /** One that may be stopped. */
  @Override
  public RunningServer startServer() {
    return ownServer();
  }

  @Test
  void the_page_reconnects_to_a_server_that_was_down_without_a_reload() {
    enqueued();
    open("#/jobs");
    browser.awaitText("echo");
    browser.script("window.loadedOnce = true");
    int port = server.url().getPort();
    server.close();
    browser.awaitConnection("lost");
    browser.awaitText("connection lost");
    holdfast.enqueue(Job.of("meanwhile").queue("other"));
    server = program(db, port, folder -> {});
    browser.awaitLive();
    browser.awaitText("meanwhile");
    holdfast.enqueue(Job.of("afterwards").queue("other"));
    browser.awaitText("afterwards");
    assertThat(browser.script("return window.loadedOnce")).isEqualTo(true);
    expectedErrors.addAll(
        List.of(
            "ERR_CONNECTION_REFUSED",
            "ERR_INCOMPLETE",
            "ERR_EMPTY",
            "ERR_CONNECTION_RESET",
            "503"));
  }
}
