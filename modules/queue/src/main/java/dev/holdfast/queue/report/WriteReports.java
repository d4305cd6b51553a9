package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.JsonInput;
import java.util.List;
import java.util.Set;

/**
 * Sends the reports of running attempts to their verbs: progress and events in one statement, logs
 * in another; steps, which are few, each in a transaction.
 */
public final class WriteReports {
  private final MaterializedJobs materialized;

  public WriteReports(MaterializedJobs materialized) {
    this.materialized = materialized;
  }

  /** One answer per report, in their order. */
  public List<Ack> all(List<Report> reports) {
    Set<Lease> appended =
        written(
            "report",
            reports.stream()
                .filter(r -> r instanceof Report.Progress || r instanceof Report.Event)
                .toList(),
            AppendEvents::all);
    Set<Lease> logged =
        written(
            "log",
            reports.stream()
                .filter(Report.Log.class::isInstance)
                .map(Report.Log.class::cast)
                .toList(),
            Log::all);
    return reports.stream()
        .map(
            report ->
                switch (report) {
                  case Report.Step step -> step(step);
                  case Report.Log log -> ack(logged.contains(log.lease()));
                  case Report.Progress progress -> ack(appended.contains(progress.lease()));
                  case Report.Event event -> ack(appended.contains(event.lease()));
                })
        .toList();
  }

  private <S extends Report> Set<Lease> written(
      String name, List<S> batch, MaterializedJobs.Verb<S> verb) {
    return batch.isEmpty()
        ? Set.of()
        : materialized.holding(
            name,
            batch,
            Report::lease,
            (connection, some) ->
                JsonInput.store(name, Refusal.EVENT_NOT_JSON, () -> verb.all(connection, some)));
  }

  private Ack step(Report.Step step) {
    return materialized.holdingInTransaction(
        "step",
        step.lease(),
        connection ->
            JsonInput.store("step", Refusal.RESULT_NOT_JSON, () -> Steps.write(connection, step)));
  }

  private static Ack ack(boolean accepted) {
    return accepted ? Ack.ACCEPTED : Ack.LEASE_LOST;
  }
}
