package dev.holdfast.server.metrics;

import dev.holdfast.micrometer.WorkerMeters;
import dev.holdfast.queue.jdbc.StatementObserver;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.steps.StepLoop;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of a server, for Prometheus and StatsD.
 *
 * <p>Created before the queue, whose statements it observes as the observer in {@code
 * JobStore.Options}. The server closes it. The number of values of every tag is limited, whatever
 * clients send.
 */
public final class ServerMetrics implements StatementObserver, AutoCloseable {
  static final String REQUEST = "server.request";
  static final String LATE = "server.late_callbacks_total";
  static final String NOTICES = "server.notices_total";
  public static final String WAITING = "server.waiting_workers";
  public static final String SUBSCRIBERS = "server.live_subscribers";
  static final String VERB = "database.verb";

  private static final Set<String> METHODS =
      Set.of("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH");
  private static final Duration[] STEPS = {
    Duration.ofMillis(5),
    Duration.ofMillis(25),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(2),
    Duration.ofSeconds(10)
  };

  private static final Tags OVER_HTTP = Tags.of("over", "http");
  private static final String SECONDS = "_seconds";

  /** Of workers; each time is sent to StatsD by itself. */
  private static final Set<String> TIMERS =
      Stream.of(Metrics.CLAIM_TIME, Metrics.RUN_TIME, Metrics.QUEUE_WAIT, StepLoop.DURATION)
          .map(ServerMetrics::timer)
          .collect(Collectors.toUnmodifiableSet());

  /** Not timed: a stream that was open for hours is no slow request. */
  private static final String STREAM = "/v1/events";

  private record Request(String method, String route, int status) {}

  private record Verb(String verb, boolean failed) {}

  private final PrometheusMeterRegistry prometheus =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final CompositeMeterRegistry all = new CompositeMeterRegistry();
  private final Map<Request, Timer> requests = new ConcurrentHashMap<>();
  private final Map<Verb, Timer> verbs = new ConcurrentHashMap<>();
  private final WorkerMeters workers = new WorkerMeters(prometheus, "", Set.of());
  // Only of this process: other processes send their counts to StatsD themselves.
  private final List<WorkerMeters> sentWorkers = new CopyOnWriteArrayList<>();
  private final List<Metrics> own = new CopyOnWriteArrayList<>();
  private @Nullable MeterRegistry statsdSender;
  private @Nullable QueueDepths depths;
  private @Nullable OpenWaits waits;
  private @Nullable ProcessMetrics processes;

  public ServerMetrics() {
    this(null);
  }

  /**
   * @param statsd null if they are not sent there
   */
  public ServerMetrics(ServerOptions.@Nullable Statsd statsd) {
    all.add(prometheus);
    if (statsd != null) {
      // Before the first count, since earlier ones would be missing.
      MeterRegistry sender = StatsdSender.to(statsd);
      all.add(sender);
      statsdSender = sender;
    }
    new JvmMemoryMetrics().bindTo(all);
    new JvmThreadMetrics().bindTo(all);
    new ProcessorMetrics().bindTo(all);
    new UptimeMetrics().bindTo(all);
    for (String callback : new String[] {"started", "heartbeat", "completed", "steps", "step"}) {
      late(callback, 0);
    }
    notice(true, 0);
    notice(false, 0);
  }

  /** Adds the counts of a worker in this process; those of several are summed up. */
  public ServerMetrics addWorker(Metrics worker) {
    return add(worker, Tags.empty());
  }

  /**
   * Adds the counts of workers over HTTP. To StatsD they are sent with a tag, because workers in
   * Java may send their own as well.
   */
  public ServerMetrics addRemoteWorkers(Metrics remote) {
    return add(remote, OVER_HTTP);
  }

  /**
   * Adds counts that are sent to StatsD only: those of a supervisor in this process, which every
   * server reads from the database.
   */
  public ServerMetrics send(Supplier<Map<String, Double>> counts) {
    MeterRegistry sender = statsdSender;
    if (sender != null) {
      WorkerMeters sent = new WorkerMeters(sender, "", TIMERS);
      sent.add(counts);
      sentWorkers.add(sent);
    }
    return this;
  }

  private ServerMetrics add(Metrics worker, Tags more) {
    own.add(worker);
    workers.add(worker::snapshot);
    MeterRegistry sender = statsdSender;
    if (sender != null) {
      WorkerMeters sent = new WorkerMeters(sender, "", TIMERS, more);
      sent.add(worker::snapshot);
      sentWorkers.add(sent);
      // One by one: of sums and counts it would send the mean again and again.
      worker.onTime(
          (name, tags, took) ->
              Timer.builder(timer(name)).tags(tags(tags).and(more)).register(sender).record(took));
    }
    return this;
  }

  private static String timer(String name) {
    return name.substring(0, name.length() - SECONDS.length());
  }

  private static Tags tags(Map<String, String> tags) {
    return Tags.of(
        tags.entrySet().stream().map(tag -> Tag.of(tag.getKey(), tag.getValue())).toList());
  }

  @Override
  public void ran(String verb, Duration took, @Nullable Throwable error) {
    verbs
        .computeIfAbsent(
            new Verb(verb, error != null),
            key ->
                Timer.builder(VERB)
                    .description("what was asked of the database")
                    .tag("verb", key.verb())
                    .tag("outcome", key.failed() ? "failed" : "ok")
                    .serviceLevelObjectives(STEPS)
                    .register(all))
        .record(took);
  }

  public void answered(String method, String template, int status, Duration took) {
    if (template.equals(STREAM) && status == 200) {
      return;
    }
    requests
        .computeIfAbsent(
            new Request(METHODS.contains(method) ? method : "OTHER", template, status),
            key ->
                Timer.builder(REQUEST)
                    .description("requests that were answered")
                    .tag("method", key.method())
                    .tag("route", key.route())
                    .tag("status", Integer.toString(key.status()))
                    .serviceLevelObjectives(STEPS)
                    .register(all))
        .record(took);
  }

  public void late(String callback) {
    late(callback, 1);
  }

  private void late(String callback, int more) {
    Counter.builder(LATE)
        .description("callbacks refused because their attempt had lost its task")
        .tag("callback", callback)
        .register(all)
        .increment(more);
  }

  /** A notice was sent: to a receiver that took it, or not. */
  public void notice(boolean delivered) {
    notice(delivered, 1);
  }

  private void notice(boolean delivered, int more) {
    Counter.builder(NOTICES)
        .description("tries to tell the receiver of notices of a question")
        .tag("outcome", delivered ? "delivered" : "failed")
        .register(all)
        .increment(more);
  }

  public void gauge(String name, IntSupplier value) {
    Gauge.builder(name, value::getAsInt).register(all);
  }

  /** What is counted in this process, without counters at 0. */
  public Map<String, Double> counted() {
    Map<String, Double> sums = new TreeMap<>();
    own.forEach(
        each -> each.counted().forEach((name, value) -> sums.merge(name, value, Double::sum)));
    return sums;
  }

  public void watch(QueueDepths queueDepths, OpenWaits openWaits, ProcessMetrics processFigures) {
    this.depths = queueDepths;
    this.waits = openWaits;
    this.processes = processFigures;
    workers.add(processFigures::snapshot);
    MeterRegistry sender = statsdSender;
    if (sender != null) {
      Gauge.builder(Metrics.INFLIGHT, processFigures::heldOverHttp)
          .tags(OVER_HTTP)
          .register(sender);
    }
  }

  /** Reads the metrics that come from the database. */
  public void refresh() {
    if (depths != null) {
      depths.refresh();
    }
    if (waits != null) {
      waits.refresh();
    }
    if (processes != null) {
      processes.refresh();
    }
    workers.refresh();
    sentWorkers.forEach(WorkerMeters::refresh);
  }

  public MeterRegistry registry() {
    return all;
  }

  /** In the text format of Prometheus. */
  public String scrape() {
    refresh();
    return prometheus.scrape();
  }

  @Override
  public void close() {
    all.getRegistries().forEach(MeterRegistry::close);
    all.close();
  }
}
