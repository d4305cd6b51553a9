package dev.holdfast.server;

import dev.holdfast.model.QueueStatus;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How much waits and runs, queue by queue; the smallest of very many queues are one. */
final class QueueDepths {
  static final String DUE = "queue.due_jobs";
  static final String RUNNING = "queue.running_jobs";

  private static final Logger log = LoggerFactory.getLogger(QueueDepths.class);
  private static final Duration GOOD_FOR = Duration.ofSeconds(5);
  private static final int MOST = 100;
  private static final String OTHERS = "_others";
  private static final Executor BESIDE = task -> Thread.ofVirtual().start(task);

  private final Supplier<List<QueueStatus>> queues;
  private final MultiGauge due;
  private final MultiGauge running;
  private @Nullable CompletableFuture<Void> reading;
  private long readAt;

  QueueDepths(Supplier<List<QueueStatus>> queues, MeterRegistry registry) {
    this.queues = queues;
    this.due = MultiGauge.builder(DUE).description("jobs that could run now").register(registry);
    this.running = MultiGauge.builder(RUNNING).description("jobs that run").register(registry);
  }

  /** Waits a moment for the database, not longer: the other numbers are worth having by then. */
  void refresh() {
    try {
      read().get(1, TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException away) {
      log.debug("the depths of queues are not known", away);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized CompletableFuture<Void> read() {
    CompletableFuture<Void> last = reading;
    boolean old = System.nanoTime() - readAt > GOOD_FOR.toNanos();
    if (last != null && (!last.isDone() || !old)) {
      return last;
    }
    readAt = System.nanoTime();
    CompletableFuture<Void> next =
        CompletableFuture.supplyAsync(queues, BESIDE)
            // A number from before the database went away would look like one from now.
            .exceptionally(away -> List.of())
            .thenAccept(this::show);
    reading = next;
    return next;
  }

  private void show(List<QueueStatus> all) {
    List<QueueStatus> sorted =
        all.stream()
            .sorted(Comparator.comparingLong((QueueStatus q) -> q.due() + q.running()).reversed())
            .toList();
    List<QueueStatus> first = sorted.subList(0, Math.min(MOST, sorted.size()));
    List<QueueStatus> others = sorted.subList(first.size(), sorted.size());
    due.register(rows(first, others, QueueStatus::due), true);
    running.register(rows(first, others, QueueStatus::running), true);
  }

  private static List<MultiGauge.Row<?>> rows(
      List<QueueStatus> first, List<QueueStatus> others, ToLongFunction<QueueStatus> number) {
    List<MultiGauge.Row<?>> rows = new ArrayList<>();
    first.forEach(queue -> rows.add(row(queue.name(), number.applyAsLong(queue))));
    if (!others.isEmpty()) {
      rows.add(row(OTHERS, others.stream().mapToLong(number).sum()));
    }
    return rows;
  }

  private static MultiGauge.Row<?> row(String queue, long value) {
    return MultiGauge.Row.of(Tags.of("queue", queue), value);
  }
}
