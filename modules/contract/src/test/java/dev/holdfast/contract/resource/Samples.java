package dev.holdfast.contract.resource;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.ForkedFrom;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.schedule.ScheduledRun;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.WaitSort;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Values of the model with every field given, and with every nullable field absent. */
final class Samples {
  static final JobId ID = JobId.parse("01890000-0000-7000-8000-000000000001");
  static final JobId OTHER = JobId.parse("01890000-0000-7000-8000-000000000002");
  static final Instant AT = Instant.parse("2026-11-15T10:05:00.123456Z");

  private Samples() {}

  static Failure failure(@Nullable String stackTrace) {
    return new Failure(FailureCategory.USER_CODE, "HANDLER_FAILED", "boom", stackTrace, true);
  }

  static JobStatus fullJob() {
    return new JobStatus(
        ID,
        "mail",
        "default",
        JobState.RUNNING,
        4,
        new JobStatus.Execution(3, 2, 5, 1, 2, 70, "nearly", "worker-1", 2),
        new JobStatus.Times(AT, AT, AT, AT, AT, AT, AT),
        new JobStatus.Cancel(AT, "why"),
        new JobStatus.Relations(
            "acme",
            "main",
            OTHER,
            "nightly",
            OTHER,
            new ForkedFrom(OTHER, "build"),
            "unique",
            "turn"),
        new OpenWait(
            "limit",
            WaitSort.APPROVAL,
            null,
            AT,
            AT,
            new OpenWait.Asked(
                "Raise it?", "", Question.Decider.OPERATOR, Question.Unanswered.REJECT),
            List.of()),
        new JobAttributes("asset", "part", new Json("{\"cpu\": 2}"), "00-trace", List.of("a", "b")),
        new JobStatus.Content(
            // Spaces as PostgreSQL writes them, and digits that must be kept.
            new Json("{\"a\": 1.10, \"b\": [null, 1e400]}"),
            new Json("{\"r\": true}"),
            failure("at x"),
            List.of()));
  }

  static JobStatus bareJob(List<String> omitted, @Nullable Failure failure) {
    return new JobStatus(
        ID,
        "mail",
        "default",
        JobState.PENDING,
        4,
        new JobStatus.Execution(0, 0, 3, 0, 2, null, null, null, null),
        new JobStatus.Times(AT, AT, null, null, null, null, null),
        new JobStatus.Cancel(null, null),
        new JobStatus.Relations("default", "default", ID, "mail", null, null, null, null),
        null,
        JobAttributes.NONE,
        new JobStatus.Content(new Json("null"), null, failure, omitted));
  }

  static PublishedArtifact artifact() {
    return new PublishedArtifact(new Artifact("out.txt", 12, "ab".repeat(32)), 2, null, AT, null);
  }

  static StepStatus step(boolean full) {
    return new StepStatus(
        "build",
        1,
        full ? StepState.DONE : StepState.RUNNING,
        2,
        1,
        full ? new Json("{\"files\": [1, 2]}") : null,
        full ? 10 : null,
        AT,
        full ? AT : null,
        full ? new Json("{\"why\": \"x\"}") : null,
        full
            ? new WaitEnd(
                WaitSort.APPROVAL, WaitEnd.Outcome.APPROVED, "ada", AT, "fine", null, null)
            : null);
  }

  static PendingCommand commands(CommandAction action) {
    return new PendingCommand(
        true,
        false,
        new PendingCommand.Recovery(action, "build", "ann", "again", AT),
        new PendingCommand.HeldBy("ann", "wait"));
  }

  static JobEvent event() {
    return new JobEvent(2, "processing", 1, AT, new Json("{\"worker\": \"w\"}"));
  }

  static LogTail log() {
    return new LogTail(
        List.of(new LogTail.Part(1, "one\n"), new LogTail.Part(2, "two\n")),
        new LogCursor(2, 1, 4),
        true);
  }

  static Attempt attempt(@Nullable Failure failure) {
    return new Attempt(1, AttemptOutcome.FAILED, "w", AT, failure == null ? null : AT, failure);
  }

  static ReportedCompletion told(boolean full) {
    return new ReportedCompletion(
        1,
        full ? AT : null,
        AT,
        full ? new Json("{\"ms\": 1.50}") : null,
        full ? new Json("[1]") : null,
        full ? "phase" : null);
  }

  static WorkerView worker(boolean full) {
    return new WorkerView(
        "worker:default:0",
        full ? "host" : null,
        full ? "w" : null,
        HealthStatus.CRASHED,
        true,
        false,
        full ? 12L : null,
        full ? ID : null,
        1,
        List.of("default", "mail"),
        3,
        5,
        full ? AT : null,
        full ? AT : null,
        full ? WorkerExit.of(137) : null,
        full ? "killed" : null,
        AT,
        full ? AT : null,
        full ? AT : null,
        full ? new Json("{\"heap\": 1}") : null);
  }

  static WorkerCommand workerCommand() {
    return new WorkerCommand(
        7, "host", "worker:default:0", WorkerCommand.Action.RESTART, "ann", "stuck", AT);
  }

  static ApiKey key(boolean full) {
    return new ApiKey(
        "0123456789ab", "ci", Role.OPERATOR, null, AT, full ? AT : null, full ? AT : null);
  }

  static QueueStatus queue(boolean full) {
    return new QueueStatus(
        "mail",
        1,
        2,
        3,
        4,
        5,
        full ? 6 : null,
        full ? new RateLimit(7, Duration.ofSeconds(8)) : null,
        full ? AT : null,
        full ? AT : null,
        full ? Duration.ofMillis(9) : null,
        null,
        null);
  }

  static ScheduleStatus schedule(boolean full) {
    return new ScheduleStatus(
        "nightly",
        "0 3 * * *",
        "UTC",
        "mail",
        "default",
        4,
        full ? 7 : null,
        2,
        full ? Duration.ofSeconds(9) : null,
        MissedFires.ONCE,
        true,
        full ? new Json("{\"a\": 1}") : null,
        AT,
        full ? AT : null,
        full ? AT : null,
        full ? "the zone is gone" : null,
        full
            ? List.of(
                new ScheduledRun(ID, JobState.SUCCEEDED, AT, AT, AT),
                new ScheduledRun(OTHER, JobState.PENDING, AT, null, null))
            : List.of());
  }

  static JobHistory history() {
    JobHistory.Percentiles times =
        new JobHistory.Percentiles(
            Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofMillis(3));
    JobHistory.Tally some = new JobHistory.Tally(4, 3, 2, 1, times, times);
    JobHistory.Tally none = new JobHistory.Tally(0, 0, 0, 0, null, null);
    return new JobHistory(
        AT,
        AT,
        Duration.ofMinutes(1),
        some,
        List.of(
            new JobHistory.Point(AT, null, null),
            new JobHistory.Point(AT, none, new JobHistory.Depth(5, 6, Duration.ofSeconds(7))),
            new JobHistory.Point(AT, some, null)),
        List.of(new JobHistory.OfKind("default", "mail", some)),
        false);
  }

  static Statistics statistics() {
    return new Statistics(
        List.of(
            new Statistics.Row("default", "mail", JobState.PENDING, 2),
            new Statistics.Row("mail", "mail", JobState.FAILED, 1)));
  }
}
