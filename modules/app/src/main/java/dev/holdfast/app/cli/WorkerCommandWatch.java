package dev.holdfast.app.cli;

import dev.holdfast.client.operate.Operator;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.WorkerView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Waits until commands to workers have been carried out. */
public final class WorkerCommandWatch {
  private static final Duration LOOK = Duration.ofMillis(200);

  private final Operator control;
  private final Duration patience;
  private final Map<String, Long> pids = new HashMap<>();

  /** Created before the commands are sent: it notes the pids, to recognise a new process. */
  public WorkerCommandWatch(Operator control, Duration patience) {
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
   * @param lines the result of each command
   */
  public record Outcome(List<WorkerCommand> orders, boolean isDone, List<String> lines) {}

  public Outcome await(List<WorkerCommand> orders) throws InterruptedException {
    long until = System.nanoTime() + patience.toNanos();
    while (true) {
      Operator.Workers now = control.workers();
      boolean done = orders.stream().allMatch(order -> isDone(order, now));
      if (done || System.nanoTime() - until >= 0) {
        return new Outcome(orders, done, lines(orders, now));
      }
      Thread.sleep(LOOK);
    }
  }

  private boolean isDone(WorkerCommand order, Operator.Workers now) {
    return find(order, now).map(worker -> isDone(order, worker)).orElse(false);
  }

  private boolean isDone(WorkerCommand order, WorkerView worker) {
    return switch (order.action()) {
      case PAUSE -> worker.paused();
      case RESUME -> !worker.paused() && !worker.stopped() && worker.status().isAlive();
      case STOP -> worker.stopped();
      case RESTART ->
          worker.status().isAlive() && worker.pid() != null && !worker.pid().equals(before(order));
    };
  }

  private @Nullable Long before(WorkerCommand order) {
    return pids.get(order.supervisor() + " " + order.component());
  }

  private static Optional<WorkerView> find(WorkerCommand order, Operator.Workers now) {
    return now.workers().stream()
        .filter(worker -> worker.component().equals(order.component()))
        .filter(worker -> order.supervisor().equals(worker.supervisor()))
        .findFirst();
  }

  private List<String> lines(List<WorkerCommand> orders, Operator.Workers now) {
    List<String> lines = new ArrayList<>();
    for (WorkerCommand order : orders) {
      String who = order.component() + " of supervisor '" + order.supervisor() + "'";
      lines.add(
          find(order, now)
              .filter(worker -> isDone(order, worker))
              .map(worker -> who + " is " + worker.shown())
              .orElse(
                  "the command to %s %s is recorded but not done yet: see 'holdfast workers list'"
                      .formatted(order.action().text(), who)));
      if (order.action() == WorkerCommand.Action.RESUME && now.pausedSince() != null) {
        lines.add("all workers are still paused: 'holdfast workers resume --all' resumes them");
      }
    }
    return lines;
  }
}
