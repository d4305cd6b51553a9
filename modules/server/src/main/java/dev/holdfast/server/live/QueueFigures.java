package dev.holdfast.server.live;

import dev.holdfast.model.ops.QueueStatus;
import java.time.Instant;
import java.util.List;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Publishes the state of queues: their backlog and their throughput. */
final class QueueFigures {
  private static final int MOST_QUEUES = 1_000;

  /** Queues that were published stay here; otherwise no event would say that one became empty. */
  private final TreeMap<String, QueueStatus> known = new TreeMap<>();

  void publish(
      LiveFeed feed,
      List<QueueStatus> backlog,
      @Nullable Instant workersPausedAt,
      ThroughputWindow throughput,
      Instant now) {
    known.replaceAll((name, before) -> QueueStatus.empty(name, workersPausedAt));
    backlog.forEach(queue -> put(queue));
    throughput
        .queues()
        .forEach(name -> put(known.getOrDefault(name, QueueStatus.empty(name, workersPausedAt))));
    ThroughputWindow.Sums ended =
        throughput.queues().stream()
            .map(name -> throughput.of(name, now))
            .reduce(ThroughputWindow.Sums.NONE, ThroughputWindow.Sums::plus);
    Long empty = emptyInMs(backlog, name -> throughput.of(name, now).perSecond());
    feed.publish(Topics.QUEUES, all(backlog, ended, empty));
    known.forEach(
        (name, queue) -> feed.publish(Topics.queue(name), one(queue, throughput.of(name, now))));
  }

  private void put(QueueStatus queue) {
    if (known.containsKey(queue.name()) || known.size() < MOST_QUEUES) {
      known.put(queue.name(), queue);
    }
  }

  private static LiveData.Queue one(QueueStatus queue, ThroughputWindow.Sums ended) {
    return new LiveData.Queue(
        queue.name(),
        queue.due(),
        queue.running(),
        queue.retrying(),
        queue.waiting(),
        queue.delayed(),
        queue.isPaused(),
        queue.pausedAt(),
        queue.workersPausedAt(),
        null,
        null,
        ended.succeeded(),
        ended.failed(),
        ended.cancelled(),
        ended.averageRunMs(),
        rounded(ended.perSecond()),
        emptyInMs(queue, ended.perSecond()),
        ThroughputWindow.WINDOW.toMillis());
  }

  /** Over all queues, including those beyond the number that is published one by one. */
  private static LiveData.Queue all(
      List<QueueStatus> queues, ThroughputWindow.Sums ended, @Nullable Long emptyInMs) {
    long due = queues.stream().mapToLong(QueueStatus::due).sum();
    long running = queues.stream().mapToLong(QueueStatus::running).sum();
    return new LiveData.Queue(
        null,
        due,
        running,
        queues.stream().mapToLong(QueueStatus::retrying).sum(),
        queues.stream().mapToLong(QueueStatus::waiting).sum(),
        queues.stream().mapToLong(QueueStatus::delayed).sum(),
        null,
        null,
        null,
        queues.size(),
        (int) queues.stream().filter(QueueStatus::isPaused).count(),
        ended.succeeded(),
        ended.failed(),
        ended.cancelled(),
        ended.averageRunMs(),
        rounded(ended.perSecond()),
        emptyInMs,
        ThroughputWindow.WINDOW.toMillis());
  }

  /** Until the slowest queue is empty; null if one of them does not get empty at this rate. */
  static @Nullable Long emptyInMs(List<QueueStatus> queues, ToDoubleFunction<String> perSecond) {
    long latest = 0;
    for (QueueStatus queue : queues) {
      Long own = emptyInMs(queue, perSecond.applyAsDouble(queue.name()));
      if (own == null) {
        return null;
      }
      latest = Math.max(latest, own);
    }
    return latest;
  }

  /** Rounded to seconds; null if no job ends. */
  private static @Nullable Long emptyInMs(QueueStatus queue, double perSecond) {
    long left = queue.due() + queue.running();
    if (left == 0) {
      return 0L;
    }
    boolean moves = perSecond > 0 && !queue.isPaused();
    return moves ? (Long) (Math.round(left / perSecond) * 1_000) : null;
  }

  private static double rounded(double rate) {
    return Math.round(rate * 100) / 100.0;
  }
}
