package dev.holdfast.app;

import dev.holdfast.contract.Control;
import dev.holdfast.model.WorkerOrder;
import dev.holdfast.model.WorkerView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Waits until the orders that were given are seen to be done. */
final class OrderWatch {
  private static final Duration LOOK = Duration.ofMillis(200);

  private final Control control;
  private final Duration patience;
  private final Map<String, Long> pids = new HashMap<>();

  /** Made before the orders are given, to know one process from the next. */
  OrderWatch(Control control, Duration patience) {
    this.control = control;
    this.patience = patience;
    control
        .workers()
        .workers()
        .forEach(
            worker -> {
              if (worker.pid() != null) {
                pids.put(worker.supervisor() + " " + worker.component(), worker.pid());
              }
            });
  }

  /**
   * @param lines what became of each order
   */
  record Outcome(List<WorkerOrder> orders, boolean isDone, List<String> lines) {}

  Outcome await(List<WorkerOrder> orders) throws InterruptedException {
    long until = System.nanoTime() + patience.toNanos();
    while (true) {
      Control.Workers now = control.workers();
      boolean done = orders.stream().allMatch(order -> isDone(order, now));
      if (done || System.nanoTime() - until >= 0) {
        return new Outcome(orders, done, lines(orders, now));
      }
      Thread.sleep(LOOK);
    }
  }

  private boolean isDone(WorkerOrder order, Control.Workers now) {
    return find(order, now).map(worker -> isDone(order, worker)).orElse(false);
  }

  private boolean isDone(WorkerOrder order, WorkerView worker) {
    return switch (order.action()) {
      case PAUSE -> worker.paused();
      case RESUME -> !worker.paused() && !worker.stopped() && worker.status().isAlive();
      case STOP -> worker.stopped();
      case RESTART ->
          worker.status().isAlive() && worker.pid() != null && !worker.pid().equals(before(order));
    };
  }

  private @Nullable Long before(WorkerOrder order) {
    return pids.get(order.supervisor() + " " + order.component());
  }

  private static Optional<WorkerView> find(WorkerOrder order, Control.Workers now) {
    return now.workers().stream()
        .filter(worker -> worker.component().equals(order.component()))
        .filter(worker -> order.supervisor().equals(worker.supervisor()))
        .findFirst();
  }

  private List<String> lines(List<WorkerOrder> orders, Control.Workers now) {
    List<String> lines = new ArrayList<>();
    for (WorkerOrder order : orders) {
      String who = order.component() + " of supervisor '" + order.supervisor() + "'";
      lines.add(
          find(order, now)
              .filter(worker -> isDone(order, worker))
              .map(worker -> who + " is " + worker.shown())
              .orElse(
                  "the order to %s %s was given; it is not done yet: 'holdfast workers list' shows when"
                      .formatted(order.action().text(), who)));
      if (order.action() == WorkerOrder.Action.RESUME && now.pausedSince() != null) {
        lines.add(
            "all workers are still paused: 'holdfast workers resume --all' lets them take jobs");
      }
    }
    return lines;
  }
}
