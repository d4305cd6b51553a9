package dev.holdfast.model.job;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.util.Set;

/** The events Holdfast writes itself. Handlers may add their own. */
public final class EventType {
  public static final String CREATED = "created";
  public static final String PROCESSING = "processing";
  public static final String SOURCE_READY = "source:ready";
  public static final String PROGRESS = "progress";
  public static final String UPLOADED = "uploaded";
  public static final String DONE = "done";
  public static final String REQUEUED_STALE = "requeued:stale";
  public static final String RETRY_SCHEDULED = "retry:scheduled";
  public static final String FAILED = "failed";
  public static final String CANCEL_REQUESTED = "cancel:requested";
  public static final String CANCELLED = "cancelled";
  public static final String ABORTED_SHUTDOWN = "aborted:shutdown";
  public static final String RELEASED = "released";
  public static final String SNOOZED = "snoozed";
  public static final String SUSPENDED = "suspended";
  public static final String RESUMED = "resumed";
  public static final String SIGNAL = "signal";
  public static final String CHILDREN_STARTED = "children:started";
  public static final String CONTINUED = "continued";
  public static final String RETRIED = "retried";
  public static final String EDITED = "edited";
  public static final String FORKED = "forked";
  public static final String STEPS_UNUSED = "steps:unused";

  /** The prefix of events about steps, their healing, and commands of operators. */
  public static final String TASK = "task.";

  public static final String STEP_STARTED = "task.step.attempt.started";
  public static final String STEP_FINISHED = "task.step.attempt.finished";
  public static final String STEP_FAILED = "task.step.attempt.failed";
  public static final String HEAL_TRIGGERED = "task.self_heal.triggered";
  public static final String HEAL_ESCALATED = "task.self_heal.escalated";
  public static final String HEAL_EXHAUSTED = "task.self_heal.exhausted";
  public static final String RESUME_FROM_STEP = "task.resume.from_step";
  public static final String RECOVERY_ACK = "task.control.recovery.ack";
  public static final String CONTROL = "task.control.";

  /** Written by Holdfast alone: a handler may not use these. */
  private static final Set<String> RESERVED =
      Set.of(
          CREATED,
          PROCESSING,
          PROGRESS,
          DONE,
          REQUEUED_STALE,
          RETRY_SCHEDULED,
          FAILED,
          CANCEL_REQUESTED,
          CANCELLED,
          ABORTED_SHUTDOWN,
          RELEASED,
          SNOOZED,
          SUSPENDED,
          RESUMED,
          SIGNAL,
          CHILDREN_STARTED,
          CONTINUED,
          RETRIED,
          EDITED,
          FORKED,
          STEPS_UNUSED);

  private EventType() {}

  /** Whether it is of those that a worker itself reports, and no handler. */
  public static boolean ofWorker(String type) {
    return type.equals(RECOVERY_ACK) || type.equals(STEPS_UNUSED);
  }

  /** The name of an event that a handler adds: any word but those that would make it lie. */
  public static String ofHandler(String type) {
    if (RESERVED.contains(Limits.word("event type", type)) || type.startsWith(TASK)) {
      throw new RefusedException(
          Refusal.BAD_NAME, "event type '" + type + "' is written by Holdfast alone");
    }
    return type;
  }
}
