package dev.holdfast.worker.attempt;

/** Why a running handler is told to stop. */
public sealed interface StopReason {
  /** A client or an operator cancelled the job. */
  record Cancelled(String reason) implements StopReason {}

  /** The job is held by another attempt now, or by none. */
  record LeaseLost() implements StopReason {}

  /** The lease of a strict kind was not extended in time; it may not be lost yet. */
  record LeaseRanOut() implements StopReason {}

  /** The attempt's own timeout. */
  record TimedOut() implements StopReason {}

  /** The job's deadline. */
  record PastDeadline() implements StopReason {}

  /** The worker has waited long enough for it. */
  record Shutdown() implements StopReason {}

  /**
   * The handler is stopped once; what is settled afterwards goes by the first reason, except that
   * there is nothing to settle without a lease, and that a worker on its way out gives everything
   * back.
   */
  default boolean outranks(StopReason other) {
    return switch (this) {
      case LeaseLost() -> true;
      case Shutdown() -> !(other instanceof LeaseLost);
      case LeaseRanOut() -> false;
      case Cancelled(var reason) -> false;
      case TimedOut() -> false;
      case PastDeadline() -> false;
    };
  }

  /** Whether another attempt may be running by now. */
  default boolean isLossOfLease() {
    return switch (this) {
      case LeaseLost() -> true;
      case LeaseRanOut() -> true;
      case Cancelled(var reason) -> false;
      case TimedOut() -> false;
      case PastDeadline() -> false;
      case Shutdown() -> false;
    };
  }

  default String text() {
    return switch (this) {
      case Cancelled(String reason) -> "cancelled: " + reason;
      case LeaseLost() -> "the lease was lost";
      case LeaseRanOut() -> "the lease could not be extended in time";
      case TimedOut() -> "the attempt's timeout has passed";
      case PastDeadline() -> "the job's deadline has passed";
      case Shutdown() -> "the worker is shutting down";
    };
  }
}
