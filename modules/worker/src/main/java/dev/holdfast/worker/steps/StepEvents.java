package dev.holdfast.worker.steps;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.value.Codec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The timeline entries of one step. */
final class StepEvents {
  private final Codec codec;
  private final Step<?> step;

  StepEvents(Codec codec, Step<?> step) {
    this.codec = codec;
    this.step = step;
  }

  Report.Entry started(int attempt) {
    return entry(EventType.STEP_STARTED, about(attempt));
  }

  /** The job continues at this step: in a new workspace, or by another attempt of the job. */
  Report.Entry resumed(int attempt, Strategy after) {
    Map<String, Object> data = about(attempt);
    data.put("strategy", after.text());
    return entry(EventType.RESUME_FROM_STEP, data);
  }

  Report.Entry acknowledged(Recovery recovery) {
    return acknowledged(codec, recovery);
  }

  static Report.Entry acknowledged(Codec codec, Recovery recovery) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("action", recovery.action().text());
    data.put("stepId", recovery.stepId());
    data.put("requestedBy", recovery.requestedBy());
    data.put("reason", recovery.reason());
    data.put("updatedAt", recovery.updatedAt().toString());
    return new Report.Entry(EventType.RECOVERY_ACK, codec.encode(data));
  }

  /**
   * By itself, for it changes nothing in the step's row.
   *
   * @param workspace where the operator finds it, after a takeover
   */
  Report.Event held(Lease lease, int attempt, CommandAction hold, @Nullable Path workspace) {
    Map<String, Object> data = about(attempt);
    data.put("action", hold.text());
    if (workspace != null) {
      data.put("workspace", workspace.toString());
    }
    return new Report.Event(lease, EventType.RECOVERY_ACK, codec.encode(data));
  }

  Report.Entry finished(int attempt, Step.Left left, Instant from, Duration took) {
    Map<String, Object> data = about(attempt);
    putIfPresent(data, "diffHash", left.diffHash());
    data.put("startedAt", from.toString());
    data.put("seconds", took.toMillis() / 1000.0);
    return entry(EventType.STEP_FINISHED, data);
  }

  /** The attempt was stopped for an operator, and does not count. */
  Report.Entry stopped(int attempt) {
    Map<String, Object> data = about(attempt);
    data.put("summary", "stopped for an operator");
    return entry(EventType.STEP_FAILED, data);
  }

  Report.Entry interrupted(int attempt) {
    Map<String, Object> data =
        about(new FailedAttempt(attempt, FailureClass.TRANSIENT_RUNTIME, "stopped", null));
    data.put("summary", "stopped with its job");
    return entry(EventType.STEP_FAILED, data);
  }

  Report.Entry failed(FailedAttempt failure, StepDecision decision, String summary) {
    return entry(EventType.STEP_FAILED, about(failure, decision, summary));
  }

  /** What is done about the failure. */
  Report.Entry decided(FailedAttempt failure, StepDecision decision, String summary) {
    Map<String, Object> data = about(failure, decision, summary);
    data.put("because", decision.because());
    return entry(
        switch (decision.strategy()) {
          case SOFT_RESET -> EventType.HEAL_TRIGGERED;
          case HARD_RESET -> EventType.HEAL_ESCALATED;
          case QUEUE_RETRY, FAIL -> EventType.HEAL_EXHAUSTED;
        },
        data);
  }

  private Map<String, Object> about(FailedAttempt failure, StepDecision decision, String summary) {
    Map<String, Object> data = about(failure);
    putIfPresent(data, "diffHash", failure.diffHash());
    data.put("strategy", decision.strategy().text());
    data.put("failureClass", decision.failureClass().text());
    data.put("summary", summary);
    return data;
  }

  private Map<String, Object> about(FailedAttempt failure) {
    Map<String, Object> data = about(failure.attempt());
    data.put("failureClass", failure.failureClass().text());
    data.put("failureSignature", failure.signature());
    return data;
  }

  private Map<String, Object> about(int attempt) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("stepId", step.id());
    data.put("stepIndex", step.index());
    data.put("attempt", attempt);
    return data;
  }

  private static void putIfPresent(Map<String, Object> data, String name, @Nullable String value) {
    if (value != null) {
      data.put(name, value);
    }
  }

  private Report.Entry entry(String type, Map<String, Object> data) {
    return new Report.Entry(type, codec.encode(data));
  }
}
