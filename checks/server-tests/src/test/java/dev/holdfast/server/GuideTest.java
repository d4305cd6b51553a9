package dev.holdfast.server;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.client.worker.HttpSource;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Workers without the database, of docs/guides/java.md, and metrics, of docs/operations.md. */
@OnlyWithAll
public class GuideTest extends ServerTest {
  private record Mail(String to) {}

  GuideTest(TestDatabase db) {
    super(db);
  }

  @Test
  void the_worker_of_the_guide_runs_a_job() {
    String apiKey = key(Role.WORKER, null);
    URI url = server.url();
    JobId job =
        holdfast.enqueue(Job.of("send-mail", new Mail("ada@example.org")).queue("mail")).id();
    // region worker
    HttpSource source = HttpSource.to(url, apiKey); // such as https://jobs.example.org
    Worker worker =
        Holdfast.worker(source, "mail")
            .handle("send-mail", Mail.class, (mail, context) -> Map.of("to", mail.to()))
            .start();
    // endregion
    try (source;
        worker) {
      Awaitility.await()
          .atMost(SOON)
          .until(() -> holdfast.find(job).orElseThrow().state() == JobState.SUCCEEDED);
      assertThat(worker.name()).startsWith("worker:mail:0@");
    }
    assertThat(String.valueOf(holdfast.find(job).orElseThrow().result())).contains("ada@");
  }

  /** As Prometheus would: the page's settings, with this server and a key in a file. */
  @Test
  void the_scrape_configuration_of_the_operations_page_gets_the_metrics() throws IOException {
    JsonNode scrape;
    try (InputStream in = GuideTest.class.getResourceAsStream("/prometheus.yaml")) {
      scrape = Document.read(in.readAllBytes()).at("/scrape_configs/0");
    }
    assertThat(scrape.at("/static_configs/0/targets/0").asText())
        .isEqualTo(ServerOptions.DEFAULT.host() + ":" + ServerOptions.DEFAULT.port());
    assertThat(scrape.at("/authorization/credentials_file").asText()).isNotBlank();
    // What is not given is as Prometheus has it by default.
    assertThat(scrape.at("/authorization/type").asText("Bearer")).isEqualTo("Bearer");
    assertThat(scrape.path("scheme").asText("http")).isEqualTo(server.url().getScheme());
    String path = scrape.path("metrics_path").asText("/metrics");
    String metrics = client.get(path, key(Role.VIEWER, null)).ok().get("text").asText();
    assertThat(metrics).contains("server_waiting_workers");
    assertThat(client.get(path, null).status()).isEqualTo(401);
  }
}
