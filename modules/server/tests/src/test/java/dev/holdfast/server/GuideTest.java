package dev.holdfast.server;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.contract.HttpSource;
import dev.holdfast.model.ApiKey;
import dev.holdfast.model.Job;
import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import dev.holdfast.model.Role;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import java.net.URI;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What docs/guides/java.md says about workers without the database. */
class GuideTest extends ServerTest {
  private record Mail(String to) {}

  GuideTest(TestDatabase db) {
    super(db);
  }

  @Test
  void the_worker_of_the_guide_works() {
    String apiKey = key(Role.WORKER, ApiKey.EVERY_TENANT);
    URI server = this.server.url();
    JobId job =
        holdfast.enqueue(Job.of("send-mail", new Mail("ada@example.org")).queue("mail")).id();
    try (HttpSource source = HttpSource.to(server, apiKey);
        Worker worker =
            Holdfast.worker(source, "mail")
                .handle("send-mail", Mail.class, (mail, context) -> Map.of("to", mail.to()))
                .start()) {
      Awaitility.await()
          .atMost(SOON)
          .until(() -> holdfast.find(job).orElseThrow().state() == JobState.SUCCEEDED);
      assertThat(worker.name()).startsWith("worker:mail:0@");
    }
    assertThat(String.valueOf(holdfast.find(job).orElseThrow().result())).contains("ada@");
  }
}
