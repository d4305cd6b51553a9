package dev.holdfast.model.command;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.util.List;
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
    reason = reason.isBlank() ? "no reason given" : Limits.reason(reason);
  }

  /**
   * Why the command was refused. Clients add where to look or what to do instead, where that
   * differs between the API and the command line.
   */
  public String refusal(Answer answer) {
    String step = "step '" + stepId + "'";
    return switch (answer) {
      case ACCEPTED -> throw new IllegalArgumentException("the command was accepted");
      case NO_SUCH_JOB -> "there is no such job";
      case ALREADY_TERMINAL -> "the job has already ended";
      case CONTINUED ->
          "the job has gone on as another one: send back that one, or fork this one from the step";
      case NOT_RUNNING ->
          "no worker runs the job, so there is nothing to take over: pause it instead";
      case NO_STEPS ->
          "the job has run and has started no step, and only jobs that run in steps can be paused or"
              + " taken over: cancel it, or pause its queue";
      case NO_SUCH_STEP -> "the job has no " + step;
      case STEP_NOT_REACHED ->
          step + " has steps before it that are not done: name the first of those";
      case STEP_DONE -> step + " is done: resume_from_step runs it and all steps after it again";
      case NOT_TAKEN_OVER ->
          "the job is not taken over, so its worker decides whether %s is done: use takeover first"
              .formatted(step);
      case NO_WORKSPACE -> step + " is code: only its own run can produce its result";
    };
  }

  /**
   * What became of it, as its transaction left it.
   *
   * @param pending the commands that the worker has not executed yet
   * @param stepsToRepeat completed steps that will run again
   */
  public record Outcome(Answer answer, PendingCommand pending, List<String> stepsToRepeat) {
    public Outcome {
      stepsToRepeat = List.copyOf(stepsToRepeat);
    }

    public static Outcome refused(Answer answer) {
      return new Outcome(answer, PendingCommand.NONE, List.of());
    }
  }

  /** Whether it was accepted. */
  public enum Answer {
    ACCEPTED,
    NO_SUCH_JOB,
    ALREADY_TERMINAL,
    /** Another job goes on in its place, and would be made a second time. */
    CONTINUED,
    /** A takeover of a job that no worker runs. */
    NOT_RUNNING,
    /** A pause or takeover of a job that has run and begun no step. */
    NO_STEPS,
    NO_SUCH_STEP,
    /** There is no checkpoint to continue from. */
    STEP_NOT_REACHED,
    /** To do it again, everything from it on has to be done again. */
    STEP_DONE,
    /** Only an operator who has taken a job over can accept a step of it. */
    NOT_TAKEN_OVER,
    /** The result of a code step comes from its handler: an operator cannot make it. */
    NO_WORKSPACE
  }
}
