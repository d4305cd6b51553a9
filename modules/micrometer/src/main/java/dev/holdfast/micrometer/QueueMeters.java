package dev.holdfast.micrometer;

import dev.holdfast.model.ops.QueueStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Due and running jobs by queue. They are read from the database when a meter is read, at most
 * every five seconds; queues that come up later are registered then.
 */
final class QueueMeters {
  private static final Logger log = LoggerFactory.getLogger(QueueMeters.class);

  static final String COUNT = "queue.count";
  static final String DUE = "queue.due_jobs";
  static final String RUNNING = "queue.running_jobs";

  private static final Duration GOOD_FOR = Duration.ofSeconds(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(1);
  private static final int MOST = 100;

  private final Supplier<List<QueueStatus>> read;
  private final MeterRegistry registry;
  private final String prefix;
  private final MultiGauge due;
  private final MultiGauge running;
  private volatile Map<String, QueueStatus> queues = Map.of();
  private volatile boolean known;
  private @Nullable CompletableFuture<Void> reading;
  private long readAt;

  QueueMeters(Supplier<List<QueueStatus>> read, MeterRegistry registry, String prefix) {
    this.read = read;
    this.registry = registry;
    this.prefix = prefix;
    this.due =
        MultiGauge.builder(prefix + DUE).description("jobs that could run now").register(registry);
    this.running =
        MultiGauge.builder(prefix + RUNNING).description("jobs that run").register(registry);
  }

  void register() {
    Gauge.builder(prefix + COUNT, this, QueueMeters::count)
        .description("queues that have unfinished jobs or settings")
        .strongReference(true)
        .register(registry);
  }

  private double count() {
    refresh();
    return known ? queues.size() : Double.NaN;
  }

  private double value(String queue, ToLongFunction<QueueStatus> number) {
    refresh();
    QueueStatus status = queues.get(queue);
    return status == null ? Double.NaN : number.applyAsLong(status);
  }

  /** Waits for a moment only, so that a database that does not answer does not block the scrape. */
  private void refresh() {
    try {
      current().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException failed) {
      log.debug("the metrics of queues could not be read", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized CompletableFuture<Void> current() {
    boolean stale = System.nanoTime() - readAt > GOOD_FOR.toNanos();
    if (reading == null || (reading.isDone() && stale)) {
      CompletableFuture<Void> next = new CompletableFuture<>();
      reading = next;
      Thread.ofVirtual()
          .name("holdfast-queue-meters")
          .start(
              () -> {
                try {
                  show(read.get(), true);
                  next.complete(null);
                } catch (Throwable e) {
                  // An old value would look like a current one.
                  show(List.of(), false);
                  next.completeExceptionally(e);
                }
              });
    }
    return reading;
  }

  private void show(List<QueueStatus> all, boolean answered) {
    known = answered;
    queues =
        all.stream()
            .limit(MOST)
            .collect(Collectors.toUnmodifiableMap(QueueStatus::name, Function.identity()));
    due.register(rows(QueueStatus::due), true);
    running.register(rows(QueueStatus::running), true);
    synchronized (this) {
      readAt = System.nanoTime();
    }
  }

  private List<MultiGauge.Row<?>> rows(ToLongFunction<QueueStatus> number) {
    return queues.keySet().stream()
        .<MultiGauge.Row<?>>map(
            queue ->
                MultiGauge.Row.of(
                    Tags.of("queue", queue), this, meters -> meters.value(queue, number)))
        .toList();
  }
}
