package dev.holdfast.worker.source;

import dev.holdfast.steps.StepMetrics;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** Counts what happens, by the names operators know. Read as one flat map. */
public final class Metrics implements StepMetrics {
  public static final String INFLIGHT = "worker.inflight_jobs";
  public static final String PAUSES = "worker.pauses_total";
  public static final String HEARTBEATS = "worker.heartbeats_total";
  public static final String RECOVERED = "worker.recovered_jobs_total";
  public static final String RETRIES = "worker.retry_attempts_total";
  public static final String DUPLICATE_SKIPS = "worker.duplicate_skips_total";
  public static final String ACQUIRE_FAILS = "worker.atomic_acquire_fail_total";
  public static final String LATE_RESULTS = "worker.late_results_total";
  public static final String ABANDONED = "worker.abandoned_handlers_total";
  public static final String OVERDUE = "worker.overdue_handlers";
  public static final String CLAIM_TIME = "worker.claim_seconds";
  public static final String RUN_TIME = "worker.run_seconds";
  public static final String QUEUE_WAIT = "worker.queue_wait_seconds";

  private static final int MOST_COUNTERS = 500;

  private final Map<String, LongAdder> counters = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> nanos = new ConcurrentHashMap<>();
  private final Map<String, Timing> timings = new ConcurrentHashMap<>();
  private final Map<String, LongSupplier> gauges = new ConcurrentHashMap<>();

  /**
   * One of {@link #counters} and one of {@link #nanos}, so that no names are made for each time.
   */
  private record Timing(LongAdder count, LongAdder sum) {
    void add(long took, int times) {
      count.add(times);
      sum.add(took);
    }
  }

  public Metrics() {
    for (String name :
        new String[] {
          PAUSES, HEARTBEATS, DUPLICATE_SKIPS, ACQUIRE_FAILS, LATE_RESULTS, ABANDONED
        }) {
      count(name, 0);
    }
    for (String name : new String[] {CLAIM_TIME, RUN_TIME, QUEUE_WAIT}) {
      time(name, Duration.ZERO, 0);
    }
  }

  /** Adds to a counter. */
  public void count(String name, long more) {
    counters.computeIfAbsent(name, n -> new LongAdder()).add(more);
  }

  /** A counter with one tag, written {@code name{tag="value"}}. */
  public void count(String name, String tag, String value, long more) {
    String tagged = tagged(name, tag, value);
    // Codes come from handlers, and one that makes a new code for each failure fills the memory.
    boolean known = counters.containsKey(tagged) || counters.size() < MOST_COUNTERS;
    count(known ? tagged : tagged(name, tag, "other"), more);
  }

  /** The same with any number of tags, of which there are not many values. */
  public void count(String name, Map<String, String> tags, long more) {
    count(tagged(name, tags), more);
  }

  @Override
  public void count(String name, Map<String, String> tags) {
    count(name, tags, 1);
  }

  private static String tagged(String name, String tag, String value) {
    return tagged(name, Map.of(tag, value));
  }

  private static String tagged(String name, Map<String, String> tags) {
    return tags.isEmpty()
        ? name
        : tags.entrySet().stream()
            .map(tag -> tag.getKey() + "=\"" + tag.getValue().replace("\"", "'") + "\"")
            .collect(Collectors.joining(",", name + "{", "}"));
  }

  /** The tags follow the name's ending. */
  @Override
  public void time(String name, Map<String, String> tags, Duration took) {
    count(tagged(name + "_count", tags), 1);
    nanos.computeIfAbsent(tagged(name + "_sum", tags), n -> new LongAdder()).add(took.toNanos());
  }

  public void time(String name, Duration took) {
    time(name, took, 1);
  }

  private void time(String name, Duration took, int times) {
    Timing known = timings.get(name);
    Timing timing =
        known != null
            ? known
            : timings.computeIfAbsent(
                name,
                n ->
                    new Timing(
                        counters.computeIfAbsent(n + "_count", c -> new LongAdder()),
                        nanos.computeIfAbsent(n + "_sum", c -> new LongAdder())));
    timing.add(took.toNanos(), times);
  }

  /** Reads a value whenever it is asked for. */
  public void gauge(String name, LongSupplier value) {
    gauges.put(name, value);
  }

  /** Of a counter or gauge; 0 when there is none of this name. */
  public long value(String name) {
    LongAdder counter = counters.get(name);
    if (counter != null) {
      return counter.sum();
    }
    LongSupplier gauge = gauges.get(name);
    return gauge == null ? 0 : gauge.getAsLong();
  }

  /** Everything, by name; times in seconds. */
  public Map<String, Double> snapshot() {
    Map<String, Double> all = new TreeMap<>();
    counters.forEach((name, count) -> all.put(name, (double) count.sum()));
    nanos.forEach((name, sum) -> all.put(name, sum.sum() / 1e9));
    gauges.forEach((name, value) -> all.put(name, (double) value.getAsLong()));
    return all;
  }
}
