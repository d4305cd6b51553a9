package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.JsonInput;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Sends the reports of running attempts to their verbs: progress and events in one statement, logs
 * in another, steps in a third. What one job reports is written in the order of the list.
 */
public final class WriteReports {
  private final MaterializedJobs materialized;

  public WriteReports(MaterializedJobs materialized) {
    this.materialized = materialized;
  }

  /** One answer per report, in their order. */
  public List<Ack> all(List<Report> reports) {
    List<Ack> acks = new ArrayList<>();
    Set<JobId> steps = new HashSet<>();
    int from = 0;
    for (int i = 0; i < reports.size(); i++) {
      Report report = reports.get(i);
      JobId job = report.lease().job();
      // A statement that writes a step can write one of each job, and comes after the others.
      if (steps.contains(job) && !(report instanceof Report.Log)) {
        acks.addAll(each(reports.subList(from, i)));
        steps.clear();
        from = i;
      }
      if (report instanceof Report.Step) {
        steps.add(job);
      }
    }
    acks.addAll(each(reports.subList(from, reports.size())));
    return acks;
  }

  /** No report of a job comes after one of its steps. */
  private List<Ack> each(List<Report> reports) {
    Set<Lease> appended =
        written(
            "report",
            Refusal.EVENT_NOT_JSON,
            reports.stream()
                .filter(r -> r instanceof Report.Progress || r instanceof Report.Event)
                .toList(),
            AppendEvents::all);
    Set<Lease> kept =
        written(
            "version",
            Refusal.BAD_LIMIT,
            reports.stream()
                .filter(Report.Version.class::isInstance)
                .map(Report.Version.class::cast)
                .toList(),
            KeepVersion::all);
    Set<Lease> logged =
        written(
            "log",
            Refusal.EVENT_NOT_JSON,
            reports.stream()
                .filter(Report.Log.class::isInstance)
                .map(Report.Log.class::cast)
                .toList(),
            Log::all);
    Set<Lease> stepped =
        steps(
            reports.stream()
                .filter(Report.Step.class::isInstance)
                .map(Report.Step.class::cast)
                .toList());
    return reports.stream()
        .map(
            report ->
                switch (report) {
                  case Report.Step step -> stepped.contains(step.lease());
                  case Report.Log log -> logged.contains(log.lease());
                  case Report.Version version -> kept.contains(version.lease());
                  case Report.Progress progress -> appended.contains(progress.lease());
                  case Report.Event event -> appended.contains(event.lease());
                })
        .map(accepted -> accepted ? Ack.ACCEPTED : Ack.LEASE_LOST)
        .toList();
  }

  private <S extends Report> Set<Lease> written(
      String name, Refusal refusal, List<S> batch, MaterializedJobs.Verb<S> verb) {
    return batch.isEmpty()
        ? Set.of()
        : materialized.holding(
            name,
            batch,
            Report::lease,
            (connection, some) -> JsonInput.store(name, refusal, () -> verb.all(connection, some)));
  }

  private Set<Lease> steps(List<Report.Step> steps) {
    Set<Lease> held = new HashSet<>();
    Set<Lease> written = new HashSet<>();
    held.addAll(
        stepBatch(steps.stream().filter(Report.Step::wasShort), WriteSteps::brief, written));
    held.addAll(
        stepBatch(
            steps.stream().filter(step -> !step.wasShort() && !WriteSteps.isAlone(step)),
            WriteSteps::any,
            written));
    for (Report.Step step : steps) {
      boolean isLeft =
          WriteSteps.isAlone(step)
              || (held.contains(step.lease()) && !written.contains(step.lease()));
      if (isLeft && one(step) == Ack.ACCEPTED) {
        held.add(step.lease());
      }
    }
    return held;
  }

  private interface StepBatch {
    WriteSteps.Written write(Connection connection, List<Report.Step> steps) throws SQLException;
  }

  private Set<Lease> stepBatch(Stream<Report.Step> steps, StepBatch batch, Set<Lease> written) {
    return written(
        "step",
        Refusal.RESULT_NOT_JSON,
        steps.toList(),
        (connection, some) -> {
          WriteSteps.Written done = batch.write(connection, some);
          written.addAll(done.written());
          return done.held();
        });
  }

  /** What an operator asked for, what has a patch, and what was not written by the statement. */
  private Ack one(Report.Step step) {
    return materialized.holdingInTransaction(
        "step",
        step.lease(),
        connection ->
            JsonInput.store(
                "step", Refusal.RESULT_NOT_JSON, () -> WriteSteps.one(connection, step)));
  }
}
