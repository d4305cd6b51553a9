package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Settlement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Told by an attempt how far it is, on the thread that got it there. */
public interface AttemptListener {
  /** The handler is about to begin: its time counts from now on. */
  void beginning(AttemptExecutor attempt);

  /** The handler has left; how it did is settled next. */
  void performed(AttemptExecutor attempt, Duration took);

  /** The handler is being told to stop. */
  void stopping(AttemptExecutor attempt);

  /**
   * The attempt has ended; called once.
   *
   * @param settlement null when nothing was settled: the handler's own transaction did, or the
   *     lease was lost
   */
  void ended(AttemptExecutor attempt, @Nullable Settlement settlement, Ack ack);
}
