package dev.holdfast.contract;

import dev.holdfast.model.Ack;
import dev.holdfast.model.JobId;
import dev.holdfast.model.Json;
import dev.holdfast.model.Lease;
import dev.holdfast.model.Report;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What running attempts tell about themselves. */
public record LeaseReport(List<Said> reports) {
  public static final int MOST = 500;

  public LeaseReport {
    reports = Fields.list("reports", reports, MOST);
  }

  /** One answer each, in their order. */
  public record Answer(List<Ack> acks) {}

  /**
   * Progress, or an event.
   *
   * @param progressPct how far the attempt is; then there is no type
   * @param type of the event; then there is no progress
   * @param data of the event
   */
  public record Said(
      JobId taskId,
      int attempt,
      @Nullable Integer progressPct,
      @Nullable String message,
      @Nullable String type,
      @Nullable Json data) {
    public Said {
      Wire.present("taskId", taskId);
      Fields.attempt(attempt);
      if ((progressPct == null) == (type == null)) {
        throw Fields.wrong("progressPct", "or 'type' must be given, and not both");
      }
      if (type == null && data != null) {
        throw Fields.wrong("data", "belongs to an event");
      }
      if (progressPct == null && message != null) {
        throw Fields.wrong("message", "belongs to progress");
      }
    }

    public static Said of(Report report) {
      JobId task = report.lease().job();
      int attempt = report.lease().attempt();
      return switch (report) {
        case Report.Progress(var lease, var percent, var message) ->
            new Said(task, attempt, percent, message, null, null);
        case Report.Event(var lease, var type, var data) ->
            new Said(task, attempt, null, null, type, data);
        case Report.Step step -> throw new UnsupportedOperationException("steps over HTTP");
      };
    }

    public Report report() {
      Lease lease = new Lease(taskId, attempt);
      return progressPct != null
          ? new Report.Progress(lease, progressPct, message)
          : new Report.Event(lease, Wire.present("type", type), data == null ? Json.EMPTY : data);
    }
  }
}
