package dev.holdfast.worker.steps;

import dev.holdfast.model.command.PendingCommand.Recovery;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the loop needs of a step that works in files which outlive its attempts. */
public interface StepWorkspace<T extends @Nullable Object> {
  /**
   * Makes ready what an attempt needs. Runs on a thread of its own, as an attempt does, but is
   * none: when it fails in a way that may pass, no attempt is used.
   */
  void prepare() throws Exception;

  /** What an operator has made of it, in place of an attempt. Runs where an attempt would. */
  T accept(Recovery by) throws Exception;

  /** What a failed attempt left. */
  Step.Left left();

  /** When the attempt under way last changed a file; nothing where that is unknown. */
  Optional<Instant> lastChange();

  /** Whether an attempt has left nothing in which it could be tried again. */
  boolean isLost();

  /** Where an operator who takes the job over finds it. */
  Optional<Path> place();

  /** Told that an operator now works where the attempts did. */
  void handedOver();

  /** What is there now, to be compared later; empty where it cannot be read. */
  Optional<String> snapshot();

  /** The files that have been changed since. */
  List<String> changedSince(String snapshot);

  /** How the last attempt failed, when that was before this worker had the job. */
  Step.@Nullable Failed before();

  /** Told of a failed attempt, before anything is done about it. */
  void failed(FailedAttempt failure, String summary, Strategy next);

  /** Puts everything back to where the step began. */
  void hardReset();
}
