package dev.holdfast.micrometer;

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
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Registers the counts of workers, of this process and of others, as meters. Names that come up
 * later are registered when any of the meters is read.
 */
public final class WorkerMeters {
  private static final Duration GOOD_FOR = Duration.ofSeconds(1);
  private static final String TOTAL = "_total";
  private static final String SECONDS_COUNT = "_seconds_count";
  private static final String SECONDS_SUM = "_seconds_sum";
  private static final Pattern TAG = Pattern.compile("(\\w+)=\"([^\"]*)\"");

  private final MeterRegistry registry;
  private final String prefix;
  private final Set<String> elsewhere;
  private final Tags more;
  private final List<Supplier<Map<String, Double>>> sources = new CopyOnWriteArrayList<>();
  private final Set<String> shown = new HashSet<>();
  private Map<String, Double> sums = Map.of();
  private long readAt;

  /**
   * @param prefix of every name, such as {@code "holdfast."}; may be empty
   * @param elsewhere timers that are not shown, because other code measures them
   */
  public WorkerMeters(MeterRegistry registry, String prefix, Set<String> elsewhere) {
    this(registry, prefix, elsewhere, Tags.empty());
  }

  /**
   * @param more tags of every meter
   */
  public WorkerMeters(MeterRegistry registry, String prefix, Set<String> elsewhere, Tags more) {
    this.registry = registry;
    this.prefix = prefix;
    this.elsewhere = Set.copyOf(elsewhere);
    this.more = more;
  }

  /** Adds counts to the sums; a source is read about once a second while meters are read. */
  public synchronized void add(Supplier<Map<String, Double>> source) {
    sources.add(source);
    read();
  }

  /** Reads the counts again if they are old, and registers meters for new names. */
  public synchronized void refresh() {
    if (System.nanoTime() - readAt > GOOD_FOR.toNanos()) {
      read();
    }
  }

  private void read() {
    Map<String, Double> read = new TreeMap<>();
    for (Supplier<Map<String, Double>> source : sources) {
      source.get().forEach((name, value) -> read.merge(name, value, Double::sum));
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
    String tagged = brace < 0 ? "" : full.substring(brace);
    Tags tags = tags(tagged);
    if (name.endsWith(TOTAL)) {
      FunctionCounter.builder(prefix + name, this, figures -> figures.value(full))
          .tags(tags)
          .register(registry);
    } else if (name.endsWith(SECONDS_COUNT)) {
      timer(name.substring(0, name.length() - SECONDS_COUNT.length()), tagged, tags);
    } else if (!name.endsWith(SECONDS_SUM)) {
      Gauge.builder(prefix + name, this, figures -> figures.value(full))
          .tags(tags)
          .register(registry);
    }
  }

  private void timer(String name, String tagged, Tags tags) {
    if (elsewhere.contains(name)) {
      return;
    }
    FunctionTimer.builder(
            prefix + name,
            this,
            figures -> (long) figures.value(name + SECONDS_COUNT + tagged),
            figures -> figures.value(name + SECONDS_SUM + tagged),
            TimeUnit.SECONDS)
        .tags(tags)
        .register(registry);
  }

  /** Of the form <code>{name="value",other="value"}</code>; no value holds a quote. */
  private Tags tags(String text) {
    Tags tags = more;
    Matcher each = TAG.matcher(text);
    while (each.find()) {
      tags = tags.and(each.group(1), each.group(2));
    }
    return tags;
  }
}
