package guide;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.metrics.ServerMetrics;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server started from Java, of docs/operations.md. */
@ExtendWith(DatabaseExtension.class)
class OperationsTest {
  @Test
  void the_metrics_of_a_server_include_the_database_and_the_workers(TestDatabase db) {
    DataSource dataSource = db.dataSource();
    ServerOptions options = ServerOptions.DEFAULT.port(0);
    // region metrics
    ServerMetrics metrics = new ServerMetrics();
    Holdfast holdfast =
        Holdfast.on(dataSource, new JacksonCodec(), new JobStore.Options(8, metrics));
    HoldfastServer server = HoldfastServer.start(holdfast, options, metrics);
    // endregion
    Worker worker =
        holdfast.worker("default").handle("any", Json.class, (payload, context) -> null).start();
    // region metrics
    metrics.addWorker(worker.metrics());
    // endregion
    try (holdfast;
        server;
        worker) {
      holdfast.enqueue(Job.of("any"));
      HttpClient http = HttpClient.newHttpClient();
      HttpRequest scrape =
          HttpRequest.newBuilder(server.url().resolve("/metrics")).timeout(SOON).build();
      // An attempt is counted a moment after the end of its job is written.
      Awaitility.await()
          .atMost(SOON)
          .untilAsserted(
              () ->
                  assertThat(http.send(scrape, HttpResponse.BodyHandlers.ofLines()).body())
                      .anyMatch(line -> line.matches("database_verb_seconds_count.*enqueue.*"))
                      .anyMatch(line -> line.matches("worker_run_seconds_count\\S* 1.*")));
    }
  }
}
