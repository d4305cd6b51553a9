package dev.holdfast.model.wait;

import dev.holdfast.model.value.Limits;

/** What a person has decided about a job that asks. */
public record Decision(boolean approved, String by, String comment) {
  public Decision {
    Limits.reason(by);
    Limits.reason(comment);
  }

  /** What became of it. */
  public enum Answer {
    ACCEPTED,
    NO_SUCH_JOB,
    /** The job does not ask this, or no longer: somebody has decided, or it was too late. */
    NOT_ASKED,
    /** The job asks for somebody with more rights. */
    NOT_ALLOWED
  }
}
