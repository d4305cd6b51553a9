package dev.holdfast.server;

import dev.holdfast.worker.Metrics;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** Shows the counts of the worker room, which know nothing of any registry, in one. */
final class WorkerFigures {
  private static final Duration GOOD_FOR = Duration.ofSeconds(1);
  private static final String TOTAL = "_total";
  private static final String SECONDS_COUNT = "_seconds_count";
  private static final String SECONDS_SUM = "_seconds_sum";

  private final MeterRegistry registry;
  private final List<Metrics> sources = new CopyOnWriteArrayList<>();
  private final Set<String> shown = new HashSet<>();
  private Map<String, Double> sums = Map.of();
  private long readAt;

  WorkerFigures(MeterRegistry registry) {
    this.registry = registry;
  }

  synchronized void add(Metrics source) {
    sources.add(source);
    read();
  }

  /** Reads again what is not from just now; what is counted for the first time appears. */
  synchronized void refresh() {
    if (System.nanoTime() - readAt > GOOD_FOR.toNanos()) {
      read();
    }
  }

  private void read() {
    Map<String, Double> read = new TreeMap<>();
    for (Metrics source : sources) {
      source.snapshot().forEach((name, value) -> read.merge(name, value, Double::sum));
    }
    sums = read;
    readAt = System.nanoTime();
    read.keySet().stream().filter(shown::add).forEach(this::show);
  }

  private synchronized double value(String name) {
    refresh();
    return sums.getOrDefault(name, 0.0);
  }

  private void show(String full) {
    int brace = full.indexOf('{');
    String name = brace < 0 ? full : full.substring(0, brace);
    Tags tags = brace < 0 ? Tags.empty() : tag(full.substring(brace + 1, full.length() - 1));
    if (name.endsWith(TOTAL)) {
      FunctionCounter.builder(name, this, figures -> figures.value(full))
          .tags(tags)
          .register(registry);
    } else if (name.endsWith(SECONDS_COUNT)) {
      timer(name.substring(0, name.length() - SECONDS_COUNT.length()), tags);
    } else if (!name.endsWith(SECONDS_SUM)) {
      Gauge.builder(name, this, figures -> figures.value(full)).tags(tags).register(registry);
    }
  }

  private void timer(String name, Tags tags) {
    FunctionTimer.builder(
            name,
            this,
            figures -> (long) figures.value(name + SECONDS_COUNT),
            figures -> figures.value(name + SECONDS_SUM),
            TimeUnit.SECONDS)
        .tags(tags)
        .register(registry);
  }

  /** Of the form {@code name="value"}. */
  private static Tags tag(String text) {
    int equals = text.indexOf('=');
    return Tags.of(text.substring(0, equals), text.substring(equals + 2, text.length() - 1));
  }
}
