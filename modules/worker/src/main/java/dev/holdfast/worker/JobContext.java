package dev.holdfast.worker;

import dev.holdfast.model.JobId;
import dev.holdfast.model.Lease;
import dev.holdfast.model.LeasedJob;
import java.time.Duration;

/** What a handler knows about its attempt, and how it talks back. Safe to use from any thread. */
public interface JobContext {
  LeasedJob job();

  default JobId id() {
    return job().id();
  }

  default Lease lease() {
    return job().lease();
  }

  /** True once the handler should stop, for whatever reason; its thread is interrupted as well. */
  boolean isCancelled();

  /** A good line at every natural break of long work: leaves the handler when it should stop. */
  void checkCancelled();

  /** Runs once when the handler should stop; at once when that has already been said. */
  void onCancel(Runnable action);

  /** Cheap to call often: what is written is throttled. */
  void progress(int percent, String message);

  default void progress(int percent) {
    progress(percent, "");
  }

  /**
   * Adds an entry to the timeline, and returns once it is durable. The data is anything the codec
   * can turn into JSON. Throws {@link LeaseLostException} when the attempt no longer holds the job.
   * A handler that holds a connection meanwhile needs a pool with more of them than there are
   * handlers: writing the entry takes one.
   */
  void event(String type, Object data);

  /** {@code throw context.snooze(…)}: come back later, without using budget. */
  default SnoozeException snooze(Duration delay) {
    return new SnoozeException(delay);
  }

  /**
   * Told by whoever settles this attempt inside the handler's own transaction, before it does: the
   * worker then asks the database how it went instead of settling again. From then on the
   * transaction may hold the job's row locked, so progress is passed over and events are refused.
   */
  void settlingInTransaction();
}
