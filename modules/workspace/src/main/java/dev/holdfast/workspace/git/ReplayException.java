package dev.holdfast.workspace.git;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A recorded patch does not lead where it once led. The workspace stays as it is. */
public final class ReplayException extends IOException {
  private static final long serialVersionUID = 1L;

  ReplayException(String patch, String why, @Nullable Throwable cause) {
    super(patch + " cannot be replayed: " + why, cause);
  }
}
