package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.RetryPolicy;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What to settle, given how the handler ended and why it was told to stop.
 *
 * <p>Finished work counts, whatever was asked meanwhile: running it again, or calling it cancelled,
 * would be untrue. Anything else that happens after a stop is taken as the consequence of the stop.
 *
 * @param policy of the kind; null leaves it to the queue how long a failed job waits
 */
record SettlementPolicy(
    LeasedJob job, @Nullable RetryPolicy policy, boolean strict, RandomGenerator random) {

  /** Empty when there is nothing to settle. */
  Optional<Settlement> on(Outcome outcome, @Nullable StopReason stop) {
    Lease lease = job.lease();
    return switch (outcome) {
      case Outcome.SettledItself() -> Optional.empty();
      case Outcome.Suspended() -> Optional.empty();
      case Outcome.LostBeforeItBegan() -> Optional.empty();
      case Outcome.Succeeded(var result) ->
          stop instanceof StopReason.LeaseLost
              ? Optional.empty()
              : Optional.of(new Settlement.Succeed(lease, result));
      // A loop without end ends here: where it is cancelled, and at its deadline.
      case Outcome.Continued(var payload) ->
          stop instanceof StopReason.LeaseLost
                  || stop instanceof StopReason.Cancelled
                  || stop instanceof StopReason.PastDeadline
              ? stopped(stop, false)
              : Optional.of(new Settlement.Continue(lease, payload));
      case Outcome.Failed(var failure, var after) ->
          stop == null ? Optional.of(failed(failure, after)) : stopped(stop, false);
      case Outcome.Snoozed(var delay) ->
          stop == null ? Optional.of(new Settlement.Snooze(lease, delay)) : stopped(stop, false);
      case Outcome.Abandoned() -> stop == null ? Optional.empty() : stopped(stop, true);
    };
  }

  private Optional<Settlement> stopped(StopReason stop, boolean abandoned) {
    Lease lease = job.lease();
    return switch (stop) {
      case StopReason.LeaseLost() -> Optional.empty();
      // The handler has stopped, so the next attempt overlaps with nothing, and this was no crash.
      case StopReason.LeaseRanOut() ->
          abandoned ? Optional.empty() : Optional.of(new Settlement.Release(lease, false));
      // The handler of a strict kind that ignores the stop keeps its lease until it ends.
      case StopReason.Shutdown() ->
          abandoned && strict ? Optional.empty() : Optional.of(new Settlement.Release(lease, true));
      case StopReason.Cancelled cancelled ->
          abandoned
              ? Optional.of(
                  failed(
                      Failure.of(
                          FailureCategory.CANCELLED,
                          Failure.CANCEL_TIMEOUT,
                          Failure.CANCEL_TIMEOUT_MESSAGE),
                      null))
              : Optional.of(new Settlement.Cancel(lease, null));
      case StopReason.TimedOut() ->
          Optional.of(
              failed(
                  Failure.of(
                      FailureCategory.TIMEOUT,
                      Failure.ATTEMPT_TIMEOUT,
                      Failure.ATTEMPT_TIMEOUT_MESSAGE.formatted(millis(job.timeout()))),
                  null));
      case StopReason.PastDeadline() ->
          Optional.of(
              failed(
                  Failure.of(
                      FailureCategory.TIMEOUT,
                      Failure.DEADLINE_EXCEEDED,
                      "the job's deadline passed while it was running"),
                  null));
    };
  }

  private Settlement failed(Failure failure, @Nullable Duration after) {
    Duration delay = after == null && policy != null ? policy.next(job.failures(), random) : after;
    return new Settlement.Fail(job.lease(), failure, delay);
  }

  private static String millis(@Nullable Duration duration) {
    return duration == null ? "?" : String.valueOf(duration.toMillis());
  }
}
