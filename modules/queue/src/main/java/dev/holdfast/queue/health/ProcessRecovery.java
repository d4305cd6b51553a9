package dev.holdfast.queue.health;

import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.recover.Reap;
import dev.holdfast.queue.recover.ReapResult;
import dev.holdfast.queue.wait.EndedJobs;
import java.util.List;

/** Takes back the jobs of a process that is known to be dead, without waiting for its leases. */
public final class ProcessRecovery {
  private static final Sql RECOVERED =
      Sql.of(
          """
          UPDATE holdfast.supervisor
             SET requeued_jobs = requeued_jobs + :requeued, ended_jobs = ended_jobs + :ended
           WHERE name = :name
          """);

  private final MaterializedJobs materialized;
  private final QueueNotifier notifier;
  private final EndedJobs endedJobs;

  ProcessRecovery(MaterializedJobs materialized, QueueNotifier notifier, EndedJobs endedJobs) {
    this.materialized = materialized;
    this.notifier = notifier;
    this.endedJobs = endedJobs;
  }

  /**
   * Takes back the jobs that a dead process was running and counts the crash. Only for a caller
   * that knows the process to be gone.
   *
   * @param supervisor whose process it was; the recovered jobs are counted in its row
   * @param namePrefix how the worker name starts under which it held its leases
   */
  public ReapResult recover(String supervisor, String namePrefix, String why) {
    List<Reap.Reaped> reaped =
        materialized.sweeping(
            "recover",
            namePrefix,
            connection -> {
              List<Reap.Reaped> lost = Reap.of(connection, namePrefix, why);
              if (!lost.isEmpty()) {
                ReapResult result = ReapResult.of(lost);
                RECOVERED
                    .on(connection)
                    .set("requeued", result.requeued().size())
                    .set("ended", result.ended().size())
                    .set("name", supervisor)
                    .update();
              }
              return lost;
            });
    ReapResult result = ReapResult.of(Reap.logged(reaped));
    notifier.send(result.requeuedIn());
    endedJobs.add(result.ended());
    return result;
  }
}
