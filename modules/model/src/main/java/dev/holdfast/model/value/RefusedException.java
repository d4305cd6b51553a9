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

  /** The same of a job of this tenant and of another one's. */
  public static RefusedException idTaken(Object id) {
    return new RefusedException(
        Refusal.ID_TAKEN,
        "the id %s is that of another job, which differs in more than its times: choose another one"
            .formatted(id));
  }

  /**
   * @param which the id, or what else is known of it
   */
  public static RefusedException noSuchDependency(String which) {
    return new RefusedException(
        Refusal.BAD_DEPENDENCY,
        "a job depends on %s, which is not there: enqueue it first, or in the same call"
            .formatted(which));
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
