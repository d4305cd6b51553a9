package dev.holdfast.model.command;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.util.Locale;

/** What an operator can ask of a job that runs in steps. */
public enum CommandAction {
  /** No further attempt begins. */
  PAUSE,
  /** Ends a pause or a takeover. */
  RESUME,
  /** Automation stops at once; the workspace is the operator's. */
  TAKEOVER,
  /** Once more in the same workspace. */
  RETRY_STEP,
  /** Once more in a new workspace. */
  HARD_RESET_STEP,
  /** Everything from this step on, in a new workspace. */
  RESUME_FROM_STEP,
  /** The changes of the operator who took the job over are the outcome of the step; continue. */
  ACCEPT_STEP;

  /** The name on the wire and in the timeline. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether it names a step and is done once; the others are states that last. */
  public boolean isRecovery() {
    return this == ACCEPT_STEP || this == RETRY_STEP || dropsCheckpoints();
  }

  /** Whether the step and all after it, should they be done, are done no longer. */
  public boolean dropsCheckpoints() {
    return this == HARD_RESET_STEP || this == RESUME_FROM_STEP;
  }

  public static CommandAction of(String text) {
    for (CommandAction action : values()) {
      if (action.text().equals(text)) {
        return action;
      }
    }
    throw new RefusedException(
        Refusal.BAD_NAME,
        "action '%s' is none of pause, resume, takeover, retry_step, hard_reset_step, resume_from_step, accept_step"
            .formatted(Text.excerpt(text, 60)));
  }
}
