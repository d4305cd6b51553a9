package dev.holdfast.app.error;

import dev.holdfast.model.value.RefusedException;

/** Ends a command with one line that says what to do, and a documented exit code. */
public final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  public CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  public int exitCode() {
    return exitCode;
  }

  /** For a value that a record of the engine refuses: it came from a setting. */
  public static CommandException misconfigured(RefusedException refused) {
    return new CommandException(ExitCode.CONFIGURATION, String.valueOf(refused.getMessage()));
  }
}
