package dev.holdfast.micrometer;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.StatementObserver;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Middleware;
import dev.holdfast.worker.source.Metrics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Registers what the library and its workers do with a {@link MeterRegistry}. The names are those
 * of the documents after {@code holdfast.}; what jobs do is counted by kind and queue.
 *
 * <pre>{@code
 * HoldfastMetrics metrics = new HoldfastMetrics(registry);
 * Holdfast holdfast = Holdfast.on(dataSource, new JacksonCodec(), new JobStore.Options(8, metrics));
 * metrics.queues(holdfast);
 * Worker worker = metrics.worker(holdfast.worker("mail").handle(…)).start();
 * }</pre>
 */
public final class HoldfastMetrics implements StatementObserver {
  /** Of all names. */
  public static final String PREFIX = "holdfast.";

  static final String RUN = "worker.run";
  static final String QUEUE_WAIT = "worker.queue_wait";
  static final String ATTEMPTS = "worker.attempts_total";
  static final String VERB = "database.verb";

  private static final Duration[] JOB_TIMES = {
    Duration.ofMillis(10),
    Duration.ofMillis(100),
    Duration.ofSeconds(1),
    Duration.ofSeconds(10),
    Duration.ofMinutes(1),
    Duration.ofMinutes(10),
    Duration.ofHours(1)
  };
  private static final Duration[] VERB_TIMES = {
    Duration.ofMillis(5),
    Duration.ofMillis(25),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(2),
    Duration.ofSeconds(10)
  };

  /** Kinds and queues are names that programs choose; a mistake must not fill the memory. */
  private static final int MOST = 1_000;

  private static final String OTHERS = "_others";

  private record Work(String name, String kind, String queue) {}

  private record End(String kind, String queue, String outcome) {}

  private record Verb(String verb, boolean failed) {}

  private final MeterRegistry registry;
  private final WorkerMeters workers;
  private final Map<Work, Timer> times = new ConcurrentHashMap<>();
  private final Map<End, Counter> ends = new ConcurrentHashMap<>();
  private final Map<Verb, Timer> verbs = new ConcurrentHashMap<>();

  /** Registers nothing before queues or workers are given. */
  public HoldfastMetrics(MeterRegistry registry) {
    this.registry = registry;
    this.workers = new WorkerMeters(registry, PREFIX, Set.of(RUN, QUEUE_WAIT));
  }

  /** Registers how many jobs of each queue are due and running. */
  public HoldfastMetrics queues(Holdfast holdfast) {
    new QueueMeters(() -> holdfast.admin().queues(Tenant.ANY), registry, PREFIX).register();
    return this;
  }

  /** Measures the worker that is started by this builder. Those of several are summed up. */
  public WorkerBuilder worker(WorkerBuilder builder) {
    Metrics counts = new Metrics();
    workers.add(counts::snapshot);
    return builder.metrics(counts).around(new Run()).listener(new Attempts());
  }

  @Override
  public void ran(String verb, Duration took, @Nullable Throwable error) {
    verbs
        .computeIfAbsent(
            new Verb(verb, error != null),
            each ->
                Timer.builder(PREFIX + VERB)
                    .description("what was asked of the database")
                    .tag("verb", each.verb())
                    .tag("outcome", each.failed() ? "failed" : "ok")
                    .serviceLevelObjectives(VERB_TIMES)
                    .register(registry))
        .record(took);
  }

  private void took(String name, LeasedJob job, Duration time) {
    Work work = new Work(name, job.kind(), job.queue());
    boolean room = times.containsKey(work) || times.size() < MOST;
    times
        .computeIfAbsent(
            room ? work : new Work(name, OTHERS, OTHERS),
            each ->
                Timer.builder(PREFIX + each.name())
                    .description(
                        name.equals(RUN)
                            ? "how long handlers ran"
                            : "how long claimed jobs had been due")
                    .tag("kind", each.kind())
                    .tag("queue", each.queue())
                    .serviceLevelObjectives(JOB_TIMES)
                    .register(registry))
        .record(time);
  }

  private void ended(LeasedJob job, String outcome) {
    End end = new End(job.kind(), job.queue(), outcome);
    boolean room = ends.containsKey(end) || ends.size() < MOST;
    ends.computeIfAbsent(
            room ? end : new End(OTHERS, OTHERS, outcome),
            each ->
                Counter.builder(PREFIX + ATTEMPTS)
                    .description("attempts by how they ended")
                    .tag("kind", each.kind())
                    .tag("queue", each.queue())
                    .tag("outcome", each.outcome())
                    .register(registry))
        .increment();
  }

  /** Measures handlers. */
  private final class Run implements Middleware {
    @Override
    public @Nullable Object around(JobContext context, Next next) throws Exception {
      long start = System.nanoTime();
      try {
        return next.run();
      } finally {
        took(RUN, context.job(), Duration.ofNanos(System.nanoTime() - start));
      }
    }
  }

  /** Counts attempts. */
  private final class Attempts implements JobListener {
    @Override
    public void started(LeasedJob job, String worker) {
      took(QUEUE_WAIT, job, job.queueWait());
    }

    @Override
    public void settled(LeasedJob job, Settlement settlement, Ack ack) {
      ended(job, ack == Ack.LEASE_LOST ? "lost" : outcome(settlement));
    }

    @Override
    public void lost(LeasedJob job) {
      ended(job, "lost");
    }
  }

  private static String outcome(Settlement settlement) {
    return switch (settlement) {
      case Settlement.Succeed succeed -> "succeeded";
      case Settlement.Continue next -> "continued";
      case Settlement.Fail fail -> "failed";
      case Settlement.Cancel cancel -> "cancelled";
      case Settlement.Snooze snooze -> "snoozed";
      case Settlement.Release release -> "released";
    };
  }
}
