package dev.holdfast.model;

/** A request that cannot be taken as it is. Nothing was written; the message says what would be. */
public final class RefusedException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final Refusal refusal;

  public RefusedException(Refusal refusal, String message) {
    super(message);
    this.refusal = refusal;
  }

  public Refusal refusal() {
    return refusal;
  }
}
