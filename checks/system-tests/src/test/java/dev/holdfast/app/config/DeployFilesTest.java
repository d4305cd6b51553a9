package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.holdfast.app.Main;
import dev.holdfast.app.setting.Durations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files in deploy/ name settings, options, ports and paths that exist. */
class DeployFilesTest {
  private static final Path CHECKOUT = Path.of("../..").toAbsolutePath().normalize();
  private static final Path DEPLOY = CHECKOUT.resolve("deploy");
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final int PORT = 8420;

  /** How long it takes to end processes that do not stop, and to leave. */
  private static final Duration TO_LEAVE = Duration.ofSeconds(20);

  private static List<JsonNode> documents(Path file) throws IOException {
    try (var parser = new YAMLFactory().createParser(file.toFile())) {
      return YAML.readValues(parser, JsonNode.class).readAll().stream().toList();
    }
  }

  /** The command and environment of a container, in Compose and Kubernetes. */
  private record Container(
      String name, List<String> arguments, Map<String, String> environment, Duration grace) {
    void assertStartable() {
      assertThat(Main.commandLine().parseArgs(arguments.toArray(String[]::new)).errors())
          .as(name)
          .isEmpty();
      // Throws for one that does not exist or cannot be.
      Settings settings = Settings.load(Map.of(), environment, null);
      assertThat(settings.problems()).as(name).isEmpty();
      if (arguments.getFirst().equals("supervise")) {
        assertThat(grace)
            .as(name)
            .isGreaterThanOrEqualTo(
                settings.get("supervisor.stopTimeout", Duration.class).plus(TO_LEAVE));
      }
    }
  }

  private static List<String> texts(JsonNode list) {
    List<String> all = new ArrayList<>();
    list.forEach(entry -> all.add(entry.asText()));
    return all;
  }

  private static JsonNode compose() throws IOException {
    // Jackson resolves neither anchors nor '<<': the file is read as YAML means it.
    Object merged =
        new org.yaml.snakeyaml.Yaml().load(Files.readString(DEPLOY.resolve("compose.yaml")));
    return YAML.valueToTree(merged);
  }

  @Test
  void compose_runs_existing_commands_with_enough_time_to_stop() throws IOException {
    JsonNode services = compose().get("services");
    List<String> ours = new ArrayList<>();
    for (var service : services.properties()) {
      JsonNode value = service.getValue();
      if (!value.get("image").asText().startsWith("holdfast:")) {
        continue;
      }
      ours.add(service.getKey());
      Map<String, String> environment = new HashMap<>();
      value
          .get("environment")
          .properties()
          .forEach(entry -> environment.put(entry.getKey(), entry.getValue().asText()));
      new Container(
              service.getKey(),
              texts(value.get("command")),
              environment,
              Durations.parse(value.path("stop_grace_period").asText("10s")))
          .assertStartable();
      assertThat(value.get("read_only").asBoolean()).isTrue();
      assertThat(value.get("user").asText()).startsWith("10001");
      assertThat(value.get("image").asText()).isEqualTo("holdfast:" + version());
      value
          .get("depends_on")
          .fieldNames()
          .forEachRemaining(needed -> assertThat(services.has(needed)).as(needed).isTrue());
    }
    assertThat(ours).containsExactly("migrate", "server", "workers");
    assertThat(texts(services.get("server").get("healthcheck").get("test")).getLast())
        .isEqualTo("http://127.0.0.1:" + PORT + "/health");
    assertThat(texts(services.get("server").get("ports"))).containsExactly("127.0.0.1:8420:8420");
    assertThat(Settings.setting("server.port").defaultText()).isEqualTo("" + PORT);
  }

  private static String version() throws IOException {
    Matcher version =
        Pattern.compile("<version>([^<]+?)(-SNAPSHOT)?</version>")
            .matcher(Files.readString(CHECKOUT.resolve("pom.xml")));
    assertThat(version.find()).isTrue();
    return version.group(1);
  }

  @Test
  void kubernetes_runs_existing_commands_with_enough_time_to_stop() throws IOException {
    List<JsonNode> all = documents(DEPLOY.resolve("kubernetes/holdfast.yaml"));
    Set<String> configMaps = new TreeSet<>();
    List<String> kinds = new ArrayList<>();
    for (JsonNode one : all) {
      kinds.add(one.get("kind").asText());
      if (one.get("kind").asText().equals("ConfigMap")) {
        configMaps.add(one.get("metadata").get("name").asText());
        Settings.load(Map.of(), Map.of(), written(one.get("data").get("holdfast.yaml").asText()));
      }
    }
    assertThat(kinds)
        .containsExactly(
            "ConfigMap",
            "Job",
            "Deployment",
            "Service",
            "PodDisruptionBudget",
            "Service",
            "StatefulSet");
    for (JsonNode one : all) {
      JsonNode pod = one.path("spec").path("template");
      if (!pod.isMissingNode()) {
        assertPod(one, pod, configMaps);
      }
    }
  }

  @Test
  void every_stateful_set_has_its_headless_service_and_every_selector_finds_pods()
      throws IOException {
    List<JsonNode> all = documents(DEPLOY.resolve("kubernetes/holdfast.yaml"));
    int governed = 0;
    for (JsonNode one : all) {
      String kind = one.get("kind").asText();
      if (kind.equals("StatefulSet")) {
        String service = one.get("spec").get("serviceName").asText();
        JsonNode pods = one.get("spec").get("template").get("metadata").get("labels");
        assertThat(all)
            .as(service)
            .anyMatch(
                other ->
                    other.get("kind").asText().equals("Service")
                        && other.get("metadata").get("name").asText().equals(service)
                        && other.get("spec").path("clusterIP").asText().equals("None")
                        && selects(other.get("spec").get("selector"), pods));
        governed++;
      }
      JsonNode selector = one.path("spec").path("selector");
      if (!selector.isMissingNode()) {
        JsonNode labels = selector.path("matchLabels");
        assertThat(all)
            .as(kind + " " + one.get("metadata").get("name").asText())
            .anyMatch(
                other ->
                    selects(
                        labels.isMissingNode() ? selector : labels,
                        other.path("spec").path("template").path("metadata").path("labels")));
      }
    }
    assertThat(governed).isPositive();
  }

  private static boolean selects(JsonNode selector, JsonNode labels) {
    return selector.properties().stream()
        .allMatch(wanted -> wanted.getValue().equals(labels.path(wanted.getKey())));
  }

  @TempDir Path temporary;

  private Path written(String settings) throws IOException {
    return Files.writeString(temporary.resolve("holdfast.yaml"), settings);
  }

  private static boolean isRead(String variable) {
    return KnownSettings.NO_SETTINGS.contains(variable)
        || Settings.all().anyMatch(setting -> setting.variable().equals(variable));
  }

  private static void assertPod(JsonNode of, JsonNode pod, Set<String> configMaps)
      throws IOException {
    String name = of.get("metadata").get("name").asText();
    JsonNode spec = pod.get("spec");
    JsonNode container = spec.get("containers").get(0);
    Map<String, String> environment = new HashMap<>();
    for (JsonNode variable : container.get("env")) {
      // Those from a secret have some value; the file is another test's.
      String key = variable.get("name").asText();
      if (variable.has("value") && !key.equals("HOLDFAST_CONFIG")) {
        environment.put(key, variable.get("value").asText().replace("$(POD_IP)", "10.1.2.3"));
      } else {
        environment.putIfAbsent(
            key.equals("HOLDFAST_DATABASE_URL") ? key : "NONE", "postgres://x/y");
      }
      assertThat(key.equals("POD_IP") || isRead(key)).as("%s: %s", name, key).isTrue();
    }
    new Container(
            name,
            texts(container.get("args")),
            environment,
            Duration.ofSeconds(spec.path("terminationGracePeriodSeconds").asInt(30)))
        .assertStartable();
    assertThat(container.get("image").asText()).isEqualTo("holdfast:" + version());
    assertThat(spec.get("securityContext").get("runAsNonRoot").asBoolean()).isTrue();
    JsonNode security = container.get("securityContext");
    assertThat(security.get("readOnlyRootFilesystem").asBoolean()).as(name).isTrue();
    assertThat(security.get("allowPrivilegeEscalation").asBoolean(true)).as(name).isFalse();
    for (JsonNode volume : spec.get("volumes")) {
      if (volume.has("configMap")) {
        assertThat(configMaps).contains(volume.get("configMap").get("name").asText());
      }
    }
    Set<String> labels = new TreeSet<>();
    pod.get("metadata").get("labels").fieldNames().forEachRemaining(labels::add);
    of.path("spec")
        .path("selector")
        .path("matchLabels")
        .fieldNames()
        .forEachRemaining(label -> assertThat(labels).contains(label));
    if (name.equals("holdfast-server")) {
      assertThat(container.get("ports").get(0).get("containerPort").asInt()).isEqualTo(PORT);
      assertThat(container.get("livenessProbe").get("httpGet").get("path").asText())
          .isEqualTo("/health");
      assertThat(container.get("readinessProbe").get("httpGet").get("path").asText())
          .isEqualTo("/ready");
      // A database that does not answer is waited for for three seconds.
      assertThat(container.get("readinessProbe").get("timeoutSeconds").asInt()).isGreaterThan(3);
    }
  }

  @Test
  void workers_are_scaled_by_a_metric_of_their_queue() throws IOException {
    JsonNode scaler = documents(DEPLOY.resolve("kubernetes/autoscaling.yaml")).getFirst();
    String target = scaler.get("spec").get("scaleTargetRef").get("name").asText();
    assertThat(documents(DEPLOY.resolve("kubernetes/holdfast.yaml")))
        .anyMatch(
            one ->
                one.get("kind").asText().equals("StatefulSet")
                    && one.get("metadata").get("name").asText().equals(target));
    String metric =
        scaler.get("spec").get("metrics").get(0).get("external").get("metric").get("name").asText();
    JsonNode rule =
        documents(DEPLOY.resolve("kubernetes/prometheus-adapter-rules.yaml"))
            .getFirst()
            .get("rules")
            .get("external")
            .get(0);
    assertThat(rule.get("name").get("as").asText()).isEqualTo(metric);
    // MonitoringFilesTest, of the server, says which metrics there are.
    assertThat(metric).isEqualTo("queue_due_jobs");
  }

  @ParameterizedTest
  @ValueSource(strings = {"server", "workers"})
  void a_systemd_unit_runs_an_existing_command(String unit) throws IOException {
    String text = Files.readString(DEPLOY.resolve("debian/holdfast-" + unit + ".service"));
    Matcher start = Pattern.compile("(?m)^ExecStart=/usr/bin/holdfast (.*)$").matcher(text);
    assertThat(start.find()).isTrue();
    Map<String, String> environment = new HashMap<>();
    Pattern.compile("(?m)^Environment=(\\w+)=(.*)$")
        .matcher(text)
        .results()
        .filter(given -> !given.group(1).equals(KnownSettings.FILE_VARIABLE))
        .forEach(given -> environment.put(given.group(1), given.group(2)));
    Matcher stop = Pattern.compile("(?m)^TimeoutStopSec=(\\d+)$").matcher(text);
    assertThat(stop.find()).isTrue();
    new Container(
            unit,
            List.of(start.group(1).split(" ")),
            environment,
            Duration.ofSeconds(Long.parseLong(stop.group(1))))
        .assertStartable();
  }

  /** As it is installed, and with all that it has as an example. */
  @Test
  void the_installed_settings_and_their_examples_are_valid() throws IOException {
    String yaml = Files.readString(DEPLOY.resolve("debian/holdfast.yaml"));
    assertThat(Settings.load(Map.of(), Map.of(), written(yaml)).problems()).isEmpty();
    Settings examples =
        Settings.load(Map.of(), Map.of(), written(yaml.replaceAll("(?m)^#(?! \\S)", "")));
    assertThat(examples.queues()).isNotEmpty();
    assertThat(examples.programs()).isNotEmpty();
    for (String line : Files.readAllLines(DEPLOY.resolve("debian/holdfast.env"))) {
      Matcher variable = Pattern.compile("^#(\\w+)=.*").matcher(line);
      if (variable.matches()) {
        assertThat(isRead(variable.group(1))).as(line).isTrue();
      }
    }
  }
}
