package dev.holdfast.supervisor;

import java.io.Serial;

/** Another supervisor with the same name is running. */
public final class SupervisorRunsException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  SupervisorRunsException(String message) {
    super(message);
  }
}
