package dev.holdfast.supervisor;

import java.io.Serial;

/** Another supervisor goes by the same name. */
public final class SupervisorRunsException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  SupervisorRunsException(String message) {
    super(message);
  }
}
