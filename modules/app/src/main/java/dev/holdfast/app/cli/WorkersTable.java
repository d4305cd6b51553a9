package dev.holdfast.app.cli;

import dev.holdfast.app.setting.Durations;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.ops.WorkerView;
import java.time.Instant;

/** Workers for people, a line each. */
public final class WorkersTable {
  private WorkersTable() {}

  /** Empty when there are none. */
  public static String of(Operator.Workers all) {
    Table table =
        new Table(
            "WORKER",
            "STATUS",
            "PID",
            "JOBS",
            "JOB",
            "RESTARTS",
            "EXIT",
            "SEEN",
            "SUPERVISOR",
            "NOTE");
    Instant now = Instant.now();
    for (WorkerView worker : all.workers()) {
      table.row(
          worker.component(),
          worker.shown(),
          worker.pid() == null ? "" : worker.pid(),
          worker.runningJobs(),
          worker.currentJob() == null ? "" : worker.currentJob(),
          worker.supervisor() == null ? "" : worker.restarts(),
          worker.exit() == null ? "" : worker.exit().shown(),
          Durations.age(worker.lastSeen(), now) + " ago",
          worker.supervisor() == null ? "none" : worker.supervisor(),
          note(worker));
    }
    String paused =
        all.workersPausedAt() == null
            ? ""
            : "all workers are paused since %s%s: 'holdfast workers resume --all'%n"
                .formatted(all.workersPausedAt(), PauseText.of(all.workersPause()));
    return paused + (table.isEmpty() ? "" : table);
  }

  private static String note(WorkerView worker) {
    String reason = worker.reason() == null ? "" : worker.reason();
    return worker.nextRestart() == null ? reason : reason + "; starts at " + worker.nextRestart();
  }
}
