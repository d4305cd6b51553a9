package dev.holdfast.worker.source;

import dev.holdfast.model.job.Failure;
import dev.holdfast.worker.steps.StepLoop;
import dev.holdfast.worker.steps.StepMetrics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
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
  private final List<TimeListener> timeListeners = new CopyOnWriteArrayList<>();
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
    for (String reason : new String[] {"stale", "ended", "timeout"}) {
      count(RECOVERED, "reason", reason, 0);
    }
    for (String code : new String[] {Failure.HANDLER_FAILED, Failure.ATTEMPT_TIMEOUT}) {
      count(RETRIES, "code", code, 0);
    }
    StepSeries.of((name, tags) -> count(name, tags, 0));
    Map<String, String> done = Map.of("class", "none", "strategy", "none", "outcome", "done");
    count(tagged(StepLoop.DURATION + "_count", done), 0);
    nanos.put(tagged(StepLoop.DURATION + "_sum", done), new LongAdder());
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

  /** A counter with any number of tags, which may not have many values. */
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

  // Sorted: names of several processes are summed, and maps have an order in each process.
  private static String tagged(String name, Map<String, String> tags) {
    return tags.isEmpty()
        ? name
        : new TreeMap<>(tags)
            .entrySet().stream()
                .map(tag -> tag.getKey() + "=\"" + tag.getValue().replace("\"", "'") + "\"")
                .collect(Collectors.joining(",", name + "{", "}"));
  }

  /** The tags follow the name's ending. */
  @Override
  public void time(String name, Map<String, String> tags, Duration took) {
    count(tagged(name + "_count", tags), 1);
    nanos.computeIfAbsent(tagged(name + "_sum", tags), n -> new LongAdder()).add(took.toNanos());
    timeListeners.forEach(listener -> listener.timed(name, tags, took));
  }

  public void time(String name, Duration took) {
    time(name, took, 1);
    timeListeners.forEach(listener -> listener.timed(name, Map.of(), took));
  }

  /** Told of each time by itself, for receivers that compute percentiles. */
  @FunctionalInterface
  public interface TimeListener {
    /**
     * @param name ends with {@code _seconds}
     */
    void timed(String name, Map<String, String> tags, Duration took);
  }

  /** Adds a listener for all times from now on. */
  public void onTime(TimeListener listener) {
    timeListeners.add(listener);
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

  /** Without counters at 0: a receiver that adds them up needs no others. */
  public Map<String, Double> counted() {
    Map<String, Double> all = snapshot();
    all.entrySet().removeIf(each -> each.getValue() == 0 && !gauges.containsKey(each.getKey()));
    return all;
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
