package dev.holdfast.model.command;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import org.jspecify.annotations.Nullable;

/**
 * A command of an operator to a job.
 *
 * @param stepId for actions on a step
 */
public record JobCommand(
    CommandAction action, @Nullable String stepId, String requestedBy, String reason) {
  public JobCommand {
    if (action.isRecovery() && stepId == null) {
      throw new RefusedException(Refusal.BAD_NAME, action.text() + " needs the step it is for");
    }
    if (!action.isRecovery() && stepId != null) {
      throw new RefusedException(
          Refusal.BAD_NAME, action.text() + " is for a whole job, not a step");
    }
    requestedBy = Text.excerpt(requestedBy, Limits.NAME_CHARS);
    reason = reason.isBlank() ? "no reason given" : Text.excerpt(reason, Limits.REASON_CHARS);
  }

  /** What became of it. */
  public enum Answer {
    ACCEPTED,
    NO_SUCH_JOB,
    ALREADY_TERMINAL,
    /** A takeover of a job that nobody runs. */
    NOT_RUNNING,
    NO_SUCH_STEP,
    /** There is no checkpoint to go on from. */
    STEP_NOT_REACHED,
    /** To do it again, everything from it on has to be done again. */
    STEP_DONE,
    /** Only who has taken a job over can say that a step of it is done. */
    NOT_TAKEN_OVER,
    /** What a step of code leaves is its result, which nobody else can make. */
    NO_WORKSPACE
  }
}
