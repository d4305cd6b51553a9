package dev.holdfast.chaos.cluster;

/** A program that a cluster needs is not there; the message is one line and says what to do. */
public final class NotInstalledException extends RuntimeException {
  private static final long serialVersionUID = 1;

  NotInstalledException(String message) {
    super(message);
  }
}
