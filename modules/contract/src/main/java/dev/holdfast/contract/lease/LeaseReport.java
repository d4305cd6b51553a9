package dev.holdfast.contract.lease;

import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.JsonOrAbsent;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reports of running attempts. */
public record LeaseReport(List<ReportEntry> reports) {
  public static final int MOST = 500;

  public LeaseReport {
    reports = Fields.list("reports", reports, MOST);
  }

  /** One answer each, in their order. */
  public record Answer(List<Ack> acks) {}

  /** An entry of the timeline that comes with a step. */
  public record Entry(String type, Json data) {
    public Entry {
      Wire.present("type", type);
      Wire.present("data", data);
    }
  }

  /**
   * A step began, failed or is done. Its patch goes beside it, for it is no JSON.
   *
   * @param discardFromIndex steps from this index on are done no longer
   * @param handledCommand the operator's command that this attempt executes, by its time
   * @param tookMs how long the attempt has run, where its start was not reported
   */
  public record Step(
      String stepId,
      int stepIndex,
      StepState state,
      int stepAttempt,
      boolean reset,
      @JsonDeserialize(using = JsonOrAbsent.class) @Nullable Json checkpoint,
      @Nullable Integer discardFromIndex,
      @Nullable Instant handledCommand,
      List<Entry> events,
      @Nullable Long tookMs) {
    private static final int MOST_EVENTS = 20;

    public Step {
      Limits.stepId(Wire.present("stepId", stepId));
      Wire.present("state", state);
      if (Wire.present("events", events).size() > MOST_EVENTS
          || events.stream().anyMatch(Objects::isNull)) {
        throw Fields.wrong("events", "must hold %d entries at most".formatted(MOST_EVENTS));
      }
      events = List.copyOf(events);
      Fields.took(tookMs, state);
    }

    private static Step of(Report.Step step) {
      return new Step(
          step.stepId(),
          step.index(),
          step.state(),
          step.attempt(),
          step.reset(),
          step.checkpoint(),
          step.discardFromIndex(),
          step.handledCommand(),
          step.events().stream().map(event -> new Entry(event.type(), event.data())).toList(),
          step.took() == null ? null : step.took().toMillis());
    }

    private Report.Step report(Lease lease, @Nullable Patch patch) {
      return new Report.Step(
          lease,
          stepId,
          stepIndex,
          state,
          stepAttempt,
          reset,
          checkpoint,
          patch,
          discardFromIndex,
          handledCommand,
          events.stream().map(event -> new Report.Entry(event.type(), event.data())).toList(),
          tookMs == null ? null : Duration.ofMillis(tookMs));
    }
  }

  /**
   * A piece of what the attempt's programs printed, as far as it goes by now.
   *
   * @param piece counted from 1 in the attempt
   */
  public record Log(int piece, String text) {
    public Log {
      Wire.present("text", text);
    }
  }

  /**
   * Progress, an event, a step, a piece of log or a version: one of them.
   *
   * @param workerId who holds the attempt
   * @param progressPct how far the attempt is
   * @param message of the progress; alone it leaves the percentage as it is
   * @param type of the event
   * @param data of the event
   * @param version of the handler that is about to begin something
   */
  public record ReportEntry(
      JobId taskId,
      int attempt,
      String workerId,
      @Nullable Integer progressPct,
      @Nullable String message,
      @Nullable String type,
      @Nullable Json data,
      @Nullable Step step,
      @Nullable Log log,
      @Nullable Integer version) {
    public ReportEntry {
      Wire.present("taskId", taskId);
      Fields.attempt(attempt);
      Fields.worker(workerId);
      Object progress = progressPct == null ? message : progressPct;
      if (Stream.of(progress, type, step, log, version).filter(Objects::nonNull).count() != 1) {
        throw Fields.wrong(
            "progressPct",
            "or 'message', 'type', 'step', 'log' or 'version' must be given, and only one kind of report");
      }
      if (type == null && data != null) {
        throw Fields.wrong("data", "belongs to an event");
      }
    }

    public static ReportEntry of(Report report, String worker) {
      JobId task = report.lease().job();
      int attempt = report.lease().attempt();
      return switch (report) {
        case Report.Progress(var lease, var percent, var message) ->
            new ReportEntry(task, attempt, worker, percent, message, null, null, null, null, null);
        case Report.Event(var lease, var type, var data) ->
            new ReportEntry(task, attempt, worker, null, null, type, data, null, null, null);
        case Report.Step step ->
            new ReportEntry(
                task, attempt, worker, null, null, null, null, Step.of(step), null, null);
        case Report.Log(var lease, var piece, var text) ->
            new ReportEntry(
                task, attempt, worker, null, null, null, null, null, new Log(piece, text), null);
        case Report.Version(var lease, var version) ->
            new ReportEntry(task, attempt, worker, null, null, null, null, null, null, version);
      };
    }

    public Report report() {
      Lease lease = new Lease(taskId, attempt);
      if (step != null) {
        return step.report(lease, null);
      }
      if (log != null) {
        return new Report.Log(lease, log.piece(), log.text());
      }
      if (version != null) {
        return new Report.Version(lease, version);
      }
      return progressPct != null || message != null
          ? new Report.Progress(lease, progressPct, message)
          : new Report.Event(lease, Wire.present("type", type), data == null ? Json.EMPTY : data);
    }

    /** A step that made these changes. */
    public Report.Step report(Patch patch) {
      return Wire.present("step", step).report(new Lease(taskId, attempt), patch);
    }
  }
}
