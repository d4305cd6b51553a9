package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What running attempts tell: progress, events, logs, steps, artifacts. */
final class ModelReports {
  private final ModelQueue queue;

  ModelReports(ModelQueue queue) {
    this.queue = queue;
  }

  /** What one job reports in the order of the list. */
  List<Ack> all(List<Report> reports) {
    return reports.stream().map(this::one).toList();
  }

  private Ack one(Report report) {
    ModelJob job = queue.heldBy(report.lease());
    if (job == null) {
      return Ack.LEASE_LOST;
    }
    switch (report) {
      case Report.Progress progress -> {
        job.progress = progress.percent() == null ? job.progress : progress.percent();
        job.event("progress");
      }
      case Report.Event event -> job.event(event.type());
      case Report.Log log -> {
        // Not in the timeline.
      }
      case Report.Step step -> step(job, step);
      case Report.Version version -> {
        // No handler of the simulation has one.
      }
    }
    return Ack.ACCEPTED;
  }

  /** What was told before changes nothing, however late it comes again. */
  private void step(ModelJob job, Report.Step step) {
    ModelJob.StepRow before = job.steps.get(step.stepId());
    String state = step.state().name();
    if (before != null) {
      int order =
          before.jobAttempt() != job.attempt
              ? Integer.compare(before.jobAttempt(), job.attempt)
              : Integer.compare(before.attempt(), step.attempt());
      boolean ends = order == 0 && before.state().equals("RUNNING") && !state.equals("RUNNING");
      if (order > 0 || (order == 0 && !ends)) {
        return;
      }
    }
    job.steps.put(
        step.stepId(),
        new ModelJob.StepRow(
            before == null ? step.index() : before.index(),
            state,
            step.attempt(),
            job.attempt,
            (before == null ? 0 : before.resets()) + (step.reset() ? 1 : 0),
            step.checkpoint(),
            null));
    Integer from = step.discardFromIndex();
    if (from != null) {
      queue
          .waits()
          .abandon(
              job,
              job.steps.entrySet().stream()
                  .filter(each -> each.getValue().index() >= from)
                  .map(Map.Entry::getKey)
                  .collect(Collectors.toSet()));
      job.steps.replaceAll(
          (id, row) ->
              row.index() >= from && row.state().equals("DONE")
                  ? new ModelJob.StepRow(
                      row.index(),
                      "FAILED",
                      row.attempt(),
                      row.jobAttempt(),
                      row.resets(),
                      null,
                      null)
                  : row);
    }
    if (step.wasShort()) {
      job.event("task.step.attempt.started");
      job.event("task.step.attempt.finished");
    }
    step.events().forEach(entry -> job.event(entry.type()));
  }

  /** The attempt is over: no step is left running under it. */
  void cutOff(ModelJob job) {
    job.steps.entrySet().stream()
        .sorted(Comparator.comparingInt(each -> each.getValue().index()))
        .filter(each -> each.getValue().state().equals("RUNNING"))
        .forEach(
            each -> {
              ModelJob.StepRow row = each.getValue();
              each.setValue(
                  new ModelJob.StepRow(
                      row.index(),
                      "INTERRUPTED",
                      row.attempt(),
                      row.jobAttempt(),
                      row.resets(),
                      row.checkpoint(),
                      null));
              job.event("task.step.attempt.failed");
            });
  }

  List<StepStatus> steps(Lease lease) {
    ModelJob job = queue.find(lease.job());
    return job == null
        ? List.of()
        : job.steps.entrySet().stream()
            .sorted(Comparator.comparingInt(each -> each.getValue().index()))
            .map(ModelReports::status)
            .toList();
  }

  private static StepStatus status(Map.Entry<String, ModelJob.StepRow> each) {
    ModelJob.StepRow row = each.getValue();
    return new StepStatus(
        each.getKey(),
        row.index(),
        StepState.valueOf(row.state()),
        row.attempt(),
        row.resets(),
        row.checkpoint(),
        null,
        Instant.EPOCH,
        null,
        null,
        row.ended());
  }

  /** All of them or none; the same again adds nothing. */
  Ack publish(Publication publication) {
    ModelJob job = queue.heldBy(publication.lease());
    if (job == null) {
      return Ack.LEASE_LOST;
    }
    publication.artifacts().stream()
        .sorted(Comparator.comparing(Artifact::name))
        .forEach(
            artifact -> {
              String now = job.attempt + " " + publication.store() + " " + artifact.sha256();
              if (!now.equals(job.artifacts.put(artifact.name(), now))) {
                job.event("uploaded");
              }
            });
    return Ack.ACCEPTED;
  }

  List<PublishedArtifact> artifacts(Lease lease) {
    ModelJob job = queue.find(lease.job());
    return job == null
        ? List.of()
        : job.artifacts.entrySet().stream()
            .map(
                each -> {
                  String[] parts = each.getValue().split(" ", -1);
                  return new PublishedArtifact(
                      new Artifact(each.getKey(), 1, parts[2]),
                      Integer.parseInt(parts[0]),
                      parts[1],
                      Instant.EPOCH,
                      null);
                })
            .toList();
  }
}
