package dev.holdfast.server.metrics;

import dev.holdfast.model.ops.QueueStatus;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** Due and running jobs of each queue; beyond a hundred queues, the smallest are summed up. */
public final class QueueDepths {
  static final String DUE = "queue.due_jobs";
  static final String RUNNING = "queue.running_jobs";

  private static final int MOST = 100;
  private static final String OTHERS = "_others";

  private final CachedGauge<List<QueueStatus>> queues;
  private final MultiGauge due;
  private final MultiGauge running;

  public QueueDepths(Supplier<List<QueueStatus>> queues, MeterRegistry registry) {
    this.queues = new CachedGauge<>("queues", queues, List.of(), this::show);
    this.due = MultiGauge.builder(DUE).description("jobs that could run now").register(registry);
    this.running = MultiGauge.builder(RUNNING).description("jobs that run").register(registry);
  }

  void refresh() {
    queues.refresh();
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
