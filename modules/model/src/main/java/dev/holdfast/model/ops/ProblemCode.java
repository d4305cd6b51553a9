package dev.holdfast.model.ops;

import java.util.Locale;

/**
 * What can be wrong. The codes never change: programs rely on them.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public enum ProblemCode {
  ALL_PAUSED,
  SUPERVISOR_SILENT,
  WORKER_STARTING,
  WORKER_SILENT,
  WORKER_CRASH_LOOP,
  WORKER_FAILED,
  WORKER_PAUSED,
  WORKER_STOPPED,
  WORKER_NOT_PROCESSING,
  HANDLER_OVERDUE,
  QUEUE_PAUSED,
  QUEUE_STALLED,
  DISPATCH_UNREACHABLE,
  DISPATCH_FAILING,
  DISPATCH_SECRET_REFUSED,
  DISPATCH_NOT_ALLOWED,
  TOXIC_JOBS,
  JOBS_FAILED,
  LEASES_OVERDUE,
  WAITS_UNANSWERED,
  KIND_UNHANDLED,
  VERSION_UNSERVED,
  SCHEDULE_BROKEN,
  SCHEDULE_OVERDUE,
  NOTICES_FAILING,
  NOTICES_GIVEN_UP,
  NOTIFICATIONS_LOST;

  private final String text = name().toLowerCase(Locale.ROOT);

  /** As clients get it: {@code queue_stalled}. */
  public String text() {
    return text;
  }
}
