package dev.holdfast.process;

/** The program is not there, or may not be run. */
public final class NoSuchProgramException extends Exception {
  private static final long serialVersionUID = 1L;

  NoSuchProgramException(String message) {
    super(message);
  }
}
