package dev.holdfast.server.metrics;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.micrometer.HoldfastMetrics;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.job.Job;
import dev.holdfast.queue.JobStore;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Alerts and dashboard also see services that have the library, and no server. */
@ExtendWith(DatabaseExtension.class)
class ServiceMonitoringTest {
  private static final Path DEPLOY = Path.of("../../deploy").toAbsolutePath().normalize();
  private static final Pattern METRIC =
      Pattern.compile("\\b(?:worker|queue|database|task)_[a-z_]+\\b(?! *=)");

  /** Of servers, and of the processes of supervisors. */
  private static final Set<String> NOT_OF_SERVICES =
      Set.of("worker_processes", "worker_restarts", "worker_total_restarts");

  private static Set<String> asked(String file) throws IOException {
    JsonNode all = new YAMLMapper().readTree(DEPLOY.resolve(file).toFile());
    return all.findValuesAsText("expr").stream()
        .flatMap(
            expression ->
                METRIC
                    .matcher(expression.replaceAll("\"[^\"]*\"", ""))
                    .results()
                    .map(found -> found.group()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** As Prometheus names it after the rule for services in scrape.yaml. */
  private static String relabelled(String name) throws IOException {
    for (JsonNode job :
        new YAMLMapper()
            .readTree(Files.readString(DEPLOY.resolve("prometheus/scrape.yaml")))
            .get("scrape_configs")) {
      if (job.get("job_name").asText().equals("services")) {
        JsonNode rule = job.get("metric_relabel_configs").get(0);
        Pattern whole = Pattern.compile("^(?:" + rule.get("regex").asText() + ")$");
        return whole.matcher(name).replaceFirst(rule.get("replacement").asText());
      }
    }
    throw new AssertionError("scrape.yaml has no job 'services'");
  }

  private static Set<String> exported(PrometheusMeterRegistry registry) {
    return registry
        .scrape()
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.replaceFirst("[ {].*", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** A job whose worker is gone, for the next worker to recover. */
  private static void loseOne(TestDatabase db) {
    try (Holdfast holdfast = Holdfast.on(db.dataSource())) {
      holdfast.enqueue(Job.of("flaky").queue("here"));
      holdfast.jobs().claim(new ClaimRequest("here", 1, "dead", Duration.ofMinutes(5)));
    }
    db.expireLeases();
  }

  @Test
  void what_alerts_and_dashboard_ask_of_workers_and_queues_a_service_exports(TestDatabase db)
      throws IOException {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    HoldfastMetrics metrics = new HoldfastMetrics(registry);
    JobStore.Options observed = JobStore.Options.DEFAULT.observer(metrics);
    loseOne(db);
    try (Holdfast holdfast = Holdfast.on(db.dataSource(), new JacksonCodec(), observed);
        Worker worker =
            metrics
                .worker(
                    holdfast
                        .worker("here")
                        .handle(
                            "flaky",
                            context -> {
                              throw new IllegalStateException("always");
                            }))
                .start()) {
      metrics.queues(holdfast);
      holdfast.enqueue(Job.of("flaky").queue("here"));
      holdfast.enqueue(Job.of("waits").queue("elsewhere"));
      await()
          .atMost(SOON)
          .until(
              () ->
                  exported(registry)
                      .containsAll(
                          Set.of(
                              "holdfast_queue_due_jobs",
                              "holdfast_worker_retry_attempts_total",
                              "holdfast_worker_recovered_jobs_total",
                              "holdfast_worker_inflight_jobs",
                              "holdfast_worker_attempts_total")));
      await().atMost(SOON).until(() -> worker.running().isEmpty());
    }
    Set<String> found = new TreeSet<>();
    for (String name : exported(registry)) {
      found.add(relabelled(name));
    }
    Set<String> asked = asked("prometheus/alerts.yaml");
    asked.addAll(asked("grafana/holdfast.json"));
    assertThat(asked).hasSizeGreaterThan(10).containsAll(NOT_OF_SERVICES);
    asked.removeAll(NOT_OF_SERVICES);
    assertThat(found).containsAll(asked).doesNotContainAnyElementsOf(NOT_OF_SERVICES);
  }
}
