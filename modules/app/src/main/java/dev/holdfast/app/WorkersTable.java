package dev.holdfast.app;

import dev.holdfast.contract.Control;
import dev.holdfast.model.WorkerExit;
import dev.holdfast.model.WorkerView;
import java.time.Duration;
import java.time.Instant;

/** Workers for people, a line each. */
final class WorkersTable {
  private WorkersTable() {}

  /** Empty when there are none. */
  static String of(Control.Workers all) {
    Table table =
        new Table(
            "COMPONENT",
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
          worker.jobs(),
          worker.currentJob() == null ? "" : worker.currentJob(),
          worker.supervisor() == null ? "" : worker.restarts(),
          WorkerExit.shown(worker.exitCode()),
          age(worker.lastSeen(), now),
          worker.supervisor() == null ? "none" : worker.supervisor(),
          note(worker));
    }
    String paused =
        all.pausedSince() == null
            ? ""
            : "all workers are paused since %s: 'holdfast workers resume --all'%n"
                .formatted(all.pausedSince());
    return paused + (table.isEmpty() ? "" : table);
  }

  private static String age(Instant seen, Instant now) {
    Duration age = Duration.between(seen, now);
    return Durations.text(age.isNegative() ? Duration.ZERO : age) + " ago";
  }

  private static String note(WorkerView worker) {
    String reason = worker.reason() == null ? "" : worker.reason();
    return worker.nextRestart() == null ? reason : reason + "; starts at " + worker.nextRestart();
  }
}
