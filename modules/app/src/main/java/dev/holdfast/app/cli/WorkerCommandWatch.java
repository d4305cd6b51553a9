package dev.holdfast.app.cli;

import dev.holdfast.contract.operate.Operator;
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

  private final Operator operator;
  private final Duration timeout;
  private final Map<String, Long> pids = new HashMap<>();

  /** Created before the commands are sent: it notes the pids, to recognise a new process. */
  public WorkerCommandWatch(Operator operator, Duration timeout) {
    this.operator = operator;
    this.timeout = timeout;
    operator
        .workers()
        .list()
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
  public record Outcome(List<WorkerCommand> commands, boolean isDone, List<String> lines) {}

  public Outcome await(List<WorkerCommand> commands) throws InterruptedException {
    long until = System.nanoTime() + timeout.toNanos();
    while (true) {
      Operator.Workers now = operator.workers().list();
      boolean done = commands.stream().allMatch(command -> isDone(command, now));
      if (done || System.nanoTime() - until >= 0) {
        return new Outcome(commands, done, lines(commands, now));
      }
      Thread.sleep(LOOK);
    }
  }

  private boolean isDone(WorkerCommand command, Operator.Workers now) {
    return find(command, now).map(worker -> isDone(command, worker)).orElse(false);
  }

  private boolean isDone(WorkerCommand command, WorkerView worker) {
    return switch (command.action()) {
      case PAUSE -> worker.pausedByOperator();
      case RESUME ->
          !worker.pausedByOperator() && !worker.stoppedByOperator() && worker.status().isAlive();
      case STOP -> worker.stoppedByOperator();
      case RESTART ->
          worker.status().isAlive()
              && worker.pid() != null
              && !worker.pid().equals(before(command));
    };
  }

  private @Nullable Long before(WorkerCommand command) {
    return pids.get(command.supervisor() + " " + command.component());
  }

  private static Optional<WorkerView> find(WorkerCommand command, Operator.Workers now) {
    return now.workers().stream()
        .filter(worker -> worker.component().equals(command.component()))
        .filter(worker -> command.supervisor().equals(worker.supervisor()))
        .findFirst();
  }

  private List<String> lines(List<WorkerCommand> commands, Operator.Workers now) {
    List<String> lines = new ArrayList<>();
    for (WorkerCommand command : commands) {
      String who = command.component() + " of supervisor '" + command.supervisor() + "'";
      lines.add(
          find(command, now)
              .filter(worker -> isDone(command, worker))
              .map(worker -> who + " is " + worker.shown())
              .orElse(
                  "the command to %s %s is recorded but not done yet: see 'holdfast workers list'"
                      .formatted(command.action().text(), who)));
      if (command.action() == WorkerCommand.Action.RESUME && now.workersPausedAt() != null) {
        lines.add("all workers are still paused: 'holdfast workers resume --all' resumes them");
      }
    }
    return lines;
  }
}
