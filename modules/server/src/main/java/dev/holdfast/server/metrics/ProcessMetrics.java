package dev.holdfast.server.metrics;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.queue.health.ServerFigures;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.worker.source.Metrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the database has of other processes: how the worker processes of supervisors are doing, what
 * they count themselves, what their supervisors took back from those that died, and what other
 * servers count.
 */
public final class ProcessMetrics {
  static final String PROCESSES = "worker.processes";
  static final String RESTARTS = "worker.restarts";
  static final String TOTAL_RESTARTS = "worker.total_restarts";

  private static final String RECOVERED = Metrics.RECOVERED + "{reason=\"%s\"}";
  private static final int MOST_COMPONENTS = 500;
  private static final int MOST_NAMES = 1_000;
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_.]{0,99}(\\{[^{}]{0,300}})?");

  /** The process that counts; its counters restart at 0 with the next one. */
  private sealed interface Source {}

  private record WorkerProcess(String supervisor, String component, int incarnation)
      implements Source {}

  private record Recovery(Supervisors.Supervising by) implements Source {}

  private record Server(String name) implements Source {}

  private record Rows(
      List<WorkerHealth> processes,
      List<Supervisors.Recovered> recovered,
      List<ServerFigures.Figures> servers,
      long heldOverHttp) {}

  private final WorkerRegistry workers;
  private final LongSupplier heldNow;
  private final String self;
  private final CachedGauge<Optional<Rows>> rows;
  private final MultiGauge processes;
  private final MultiGauge restarts;
  private final MultiGauge totalRestarts;
  private final Map<Source, Map<String, Double>> counted = new HashMap<>();
  private final Map<String, Double> before = new TreeMap<>();
  private long heldOverHttp;

  /**
   * @param heldNow how many attempts workers over HTTP hold
   * @param self the name of this server, whose own counts are newer than its row
   */
  public ProcessMetrics(
      WorkerRegistry workers, LongSupplier heldNow, String self, MeterRegistry registry) {
    this.workers = workers;
    this.heldNow = heldNow;
    this.self = self;
    this.rows =
        new CachedGauge<>("processes", () -> Optional.of(read()), Optional.empty(), this::show);
    this.processes =
        MultiGauge.builder(PROCESSES)
            .description("worker processes of supervisors, by status")
            .register(registry);
    this.restarts =
        MultiGauge.builder(RESTARTS)
            .description("restarts after crashes that still count")
            .register(registry);
    this.totalRestarts =
        MultiGauge.builder(TOTAL_RESTARTS)
            .description("restarts after crashes since the supervisor or an operator started it")
            .register(registry);
  }

  void refresh() {
    rows.refresh();
  }

  private Rows read() {
    return new Rows(
        workers.readings().all(),
        workers.supervisors().recovered(),
        workers.servers().all(),
        heldNow.getAsLong());
  }

  private synchronized void show(Optional<Rows> known) {
    Optional<List<WorkerHealth>> all = known.map(Rows::processes);
    processes.register(all.map(ProcessMetrics::byStatus).orElse(List.of()), true);
    restarts.register(byComponent(all, WorkerHealth::restarts), true);
    totalRestarts.register(byComponent(all, WorkerHealth::totalRestarts), true);
    // If the rows cannot be read, no process is counted as ended.
    known.ifPresent(this::count);
  }

  private static List<MultiGauge.Row<?>> byStatus(List<WorkerHealth> all) {
    List<MultiGauge.Row<?>> gauges = new ArrayList<>();
    for (HealthStatus status : HealthStatus.values()) {
      long count = all.stream().filter(row -> row.effectiveStatus() == status).count();
      gauges.add(MultiGauge.Row.of(Tags.of("status", status.text()), count));
    }
    return gauges;
  }

  /** Over all supervisors that have such a component. */
  private static List<MultiGauge.Row<?>> byComponent(
      Optional<List<WorkerHealth>> all, ToIntFunction<WorkerHealth> count) {
    Map<String, Integer> sums = new TreeMap<>();
    all.orElse(List.of()).stream()
        .limit(MOST_COMPONENTS)
        .forEach(row -> sums.merge(row.component(), count.applyAsInt(row), Integer::sum));
    List<MultiGauge.Row<?>> gauges = new ArrayList<>();
    sums.forEach(
        (component, sum) -> gauges.add(MultiGauge.Row.of(Tags.of("component", component), sum)));
    return gauges;
  }

  /** A counter must not go down when a process ends: what it had counted by then is kept. */
  private void count(Rows all) {
    Map<Source, Map<String, Double>> now = new HashMap<>();
    for (WorkerHealth row : all.processes()) {
      Map<String, Double> figures = read(row);
      if (!figures.isEmpty()) {
        now.put(new WorkerProcess(row.supervisor(), row.component(), row.incarnation()), figures);
      }
    }
    for (Supervisors.Recovered row : all.recovered()) {
      now.put(
          new Recovery(row.by()),
          Map.of(
              RECOVERED.formatted("crashed"), (double) row.requeued(),
              RECOVERED.formatted("ended"), (double) row.ended()));
    }
    for (ServerFigures.Figures row : all.servers()) {
      if (!row.server().equals(self)) {
        Map<String, Double> figures = read(Wire.tree(row.figures()));
        if (row.isSilent()) {
          figures.keySet().removeIf(figure -> !isCounter(figure));
        }
        now.put(new Server(row.server()), figures);
      }
    }
    heldOverHttp = all.heldOverHttp();
    counted.forEach(
        (source, figures) -> {
          if (!now.containsKey(source)) {
            figures.forEach(
                (name, value) -> {
                  if (isCounter(name)) {
                    before.merge(name, value, Double::sum);
                  }
                });
          }
        });
    counted.clear();
    counted.putAll(now);
  }

  static boolean isCounter(String figure) {
    int brace = figure.indexOf('{');
    String name = brace < 0 ? figure : figure.substring(0, brace);
    return name.endsWith("_total") || name.endsWith("_count") || name.endsWith("_sum");
  }

  private static Map<String, Double> read(WorkerHealth row) {
    JsonNode details = row.status().isAlive() ? Wire.tree(row.details()) : null;
    return read(details == null ? null : details.get("metrics"));
  }

  private static Map<String, Double> read(@Nullable JsonNode all) {
    Map<String, Double> figures = new TreeMap<>();
    if (all != null) {
      all.properties()
          .forEach(
              figure -> {
                if (figure.getValue().isNumber()
                    && figures.size() < MOST_NAMES
                    && NAME.matcher(figure.getKey()).matches()) {
                  figures.put(figure.getKey(), figure.getValue().asDouble());
                }
              });
    }
    return figures;
  }

  synchronized long heldOverHttp() {
    return heldOverHttp;
  }

  /** Sums over all processes, those that have ended included where they are counters. */
  synchronized Map<String, Double> snapshot() {
    Map<String, Double> sums = new TreeMap<>(before);
    sums.putIfAbsent(RECOVERED.formatted("crashed"), 0.0);
    sums.put(Metrics.INFLIGHT, (double) heldOverHttp);
    counted
        .values()
        .forEach(figures -> figures.forEach((name, value) -> sums.merge(name, value, Double::sum)));
    return sums;
  }
}
