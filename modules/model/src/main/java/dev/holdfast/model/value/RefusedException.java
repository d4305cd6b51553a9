package dev.holdfast.model.value;

/** A request that cannot be taken as it is. Nothing was written; the message says what would be. */
public final class RefusedException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final Refusal refusal;

  /** With a message that says what would be taken. */
  public RefusedException(Refusal refusal, String message) {
    super(message);
    this.refusal = refusal;
  }

  public static RefusedException noSuchDependency() {
    return new RefusedException(
        Refusal.BAD_DEPENDENCY,
        "a job depends on one that is not there: enqueue it first, or in the same call");
  }

  /** The same, of an entry of a list: the message begins with {@code jobs[3]: }. */
  public RefusedException at(String place) {
    RefusedException placed = new RefusedException(refusal, place + ": " + getMessage());
    placed.initCause(this);
    return placed;
  }

  /** Why, for programs. */
  public Refusal refusal() {
    return refusal;
  }
}
