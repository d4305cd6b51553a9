package dev.holdfast.server.metrics;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** The dashboard and the alerts ask for metrics, with labels, that a server really has. */
@ExtendWith(DatabaseExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MonitoringFilesTest {
  private static final Path DEPLOY = Path.of("../../deploy").toAbsolutePath().normalize();

  /** What Prometheus itself adds to every series. */
  private static final Set<String> OF_PROMETHEUS = Set.of("job", "instance", "le");

  private static final Set<String> WORDS = Set.of("by", "on", "and", "or", "unless", "without");
  private static final Pattern SELECTOR = Pattern.compile("([a-z_]+)\\{([^}]*)}");
  private static final Pattern LABEL = Pattern.compile("(\\w+) *(?:=~|!~|!=|=)");
  private static final Pattern GROUPING = Pattern.compile("\\b(?:by|on|without) *\\(([^)]*)\\)");
  private static final Pattern NAME = Pattern.compile("[a-z_][a-z_0-9]*\\b(?! *\\()");

  private final Map<String, Set<String>> labels = new HashMap<>();

  @BeforeAll
  void scrape(TestDatabase db) {
    ServerMetrics metrics = new ServerMetrics();
    JobStore.Options observed = new JobStore.Options(8, metrics);
    try (Holdfast holdfast = Holdfast.on(db.dataSource(), new JacksonCodec(), observed);
        HoldfastServer server =
            HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0), metrics);
        Worker worker =
            holdfast
                .worker("here")
                .handle(
                    "flaky",
                    Json.class,
                    (payload, context) -> {
                      throw new IllegalStateException("always");
                    })
                .start()) {
      metrics.addWorker(worker.metrics());
      // Something of everything: a queue with jobs, a wait, a failure that is retried, a process
      // that
      // crashed.
      holdfast.enqueue(Job.of("waits").queue("elsewhere").maxCrashes(2));
      holdfast.enqueue(Job.of("flaky").queue("here"));
      WorkerProcesses processes = holdfast.store().workers().processes();
      WorkerProcesses.Place place = new WorkerProcesses.Place("here", "worker:tag:0", 1);
      processes.starting(place, 0, false);
      processes.beat(place, HealthStatus.HEALTHY, 7, null, new Json("{}"));
      processes.ended(place, HealthStatus.CRASHED, 1, "exit 1", Duration.ZERO);
      processes.starting(new WorkerProcesses.Place("here", "worker:tag:0", 2), 1, false);
      holdfast
          .store()
          .workers()
          .supervisors()
          .appear(new Supervisors.Supervising("here", "host", 1, Instant.EPOCH));
      holdfast.enqueue(Job.of("onboard").queue("people"));
      Lease waits =
          holdfast
              .jobs()
              .claim(new ClaimRequest("people", 1, "w", Duration.ofMinutes(5)))
              .jobs()
              .getFirst()
              .lease();
      holdfast.jobs().suspend(new Suspension(waits, 1, new Wait.ForSignal("go", "start", null)));
      holdfast.jobs().claim(new ClaimRequest("elsewhere", 1, "dead", Duration.ofMinutes(5)));
      holdfast.store().workers().recovery().recover("here", "dead", "exit 137 (SIGKILL)");
      Client client = new Client(server.url());
      await()
          .atMost(SOON)
          .until(
              () -> {
                read(client.get("/metrics", null).response().body());
                return labels.containsKey("worker_retry_attempts_total")
                    && labels.containsKey("server_request_seconds_bucket")
                    && labels.containsKey("worker_recovered_jobs_total")
                    && labels.containsKey("worker_restarts");
              });
    }
  }

  private void read(String scraped) {
    scraped
        .lines()
        .filter(line -> !line.startsWith("#"))
        .forEach(
            line -> {
              Matcher selector = SELECTOR.matcher(line);
              String name = line.replaceFirst("[ {].*", "");
              Set<String> names = labels.computeIfAbsent(name, n -> new TreeSet<>());
              if (selector.lookingAt()) {
                LABEL.matcher(selector.group(2)).results().forEach(l -> names.add(l.group(1)));
              }
            });
  }

  private static List<JsonNode> rules() throws IOException {
    List<JsonNode> rules = new ArrayList<>();
    new YAMLMapper()
        .readTree(DEPLOY.resolve("prometheus/alerts.yaml").toFile())
        .get("groups")
        .forEach(group -> group.get("rules").forEach(rules::add));
    return rules;
  }

  private static Set<String> dashboard() throws IOException {
    Set<String> all = new TreeSet<>();
    JsonNode board = new JsonMapper().readTree(DEPLOY.resolve("grafana/holdfast.json").toFile());
    board.findValuesAsText("expr").forEach(all::add);
    for (JsonNode variable : board.get("templating").get("list")) {
      Matcher values =
          Pattern.compile("label_values\\((\\w+), (\\w+)\\)")
              .matcher(variable.get("query").asText());
      if (values.matches()) {
        all.add("max by (" + values.group(2) + ") (" + values.group(1) + ")");
      }
    }
    assertThat(all).hasSizeGreaterThan(20);
    return all;
  }

  @Test
  void alerts_use_metrics_that_exist() throws IOException {
    assertThat(rules()).hasSizeGreaterThan(8);
    for (JsonNode rule : rules()) {
      assertExists(rule.get("expr").asText());
      assertThat(rule.get("labels").get("severity").asText()).isIn("warning", "critical");
      assertThat(rule.get("annotations").get("summary").asText()).isNotBlank();
      assertThat(rule.get("annotations").get("description").asText()).isNotBlank();
    }
  }

  @Test
  void the_dashboard_uses_metrics_that_exist() throws IOException {
    for (String expression : dashboard()) {
      assertExists(expression);
    }
  }

  @Test
  void an_expression_with_an_unknown_metric_or_label_is_found() {
    assertThat(unknown("max by (queue) (queue_due_jobs{queue=\"a\"})")).isEmpty();
    assertThat(unknown("sum(queue_lost_jobs)")).containsExactly("queue_lost_jobs");
    assertThat(unknown("max by (color) (queue_due_jobs)")).containsExactly("color");
    assertThat(unknown("queue_due_jobs{color=\"a\"}")).containsExactly("queue_due_jobs{color}");
  }

  private void assertExists(String expression) {
    assertThat(unknown(expression)).as(expression).isEmpty();
  }

  private Set<String> unknown(String expression) {
    Set<String> unknown = new TreeSet<>();
    // Texts may hold braces, and every other word in them.
    String plain = expression.replaceAll("\"[^\"]*\"", "\"\"").replaceAll("\\[[^]]*]", "");
    SELECTOR
        .matcher(plain)
        .results()
        .forEach(
            selector ->
                LABEL
                    .matcher(selector.group(2))
                    .results()
                    .map(label -> label.group(1))
                    .filter(label -> !has(selector.group(1), label))
                    .forEach(label -> unknown.add(selector.group(1) + "{" + label + "}")));
    String rest = GROUPING.matcher(plain.replaceAll("\\{[^}]*}", "")).replaceAll("");
    Set<String> asked = new TreeSet<>();
    NAME.matcher(rest).results().map(name -> name.group()).forEach(asked::add);
    asked.removeAll(WORDS);
    asked.stream()
        .filter(name -> !name.equals("up") && !labels.containsKey(name))
        .forEach(unknown::add);
    GROUPING
        .matcher(plain)
        .results()
        .flatMap(grouping -> Stream.of(grouping.group(1).split(" *, *")))
        .filter(label -> asked.stream().noneMatch(name -> has(name, label)))
        .forEach(unknown::add);
    return unknown;
  }

  private boolean has(String metric, String label) {
    return OF_PROMETHEUS.contains(label) || labels.getOrDefault(metric, Set.of()).contains(label);
  }

  /** Where Prometheus is installed; its own tool knows the functions and plays the alerts. */
  @Test
  void prometheus_accepts_the_alerts_and_they_fire_under_their_conditions() {
    assumeThat(
            Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "promtool"))))
        .as("promtool is installed")
        .isTrue();
    for (List<String> arguments :
        List.of(
            List.of("check", "rules", "alerts.yaml"),
            List.of("test", "rules", "alerts-test.yaml"))) {
      List<String> command = new ArrayList<>(List.of("promtool"));
      command.addAll(arguments);
      try (ChildProcess promtool =
          ChildProcess.start(
              new ProcessBuilder(command).directory(DEPLOY.resolve("prometheus").toFile()))) {
        assertThat(promtool.awaitExit(SOON)).as("%s", promtool.lines()).isZero();
      }
    }
  }
}
