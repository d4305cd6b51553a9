package dev.holdfast.steps;

/** A pause came while a workspace was being rebuilt: it goes on from what is there, later. */
public final class HeldUpException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public HeldUpException() {
    super("paused while the workspace was being rebuilt", null, false, false);
  }
}
