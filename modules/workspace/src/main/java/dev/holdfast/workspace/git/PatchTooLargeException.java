package dev.holdfast.workspace.git;

import java.io.IOException;

/** A step changed more than a checkpoint may hold. */
public final class PatchTooLargeException extends IOException {
  private static final long serialVersionUID = 1L;

  PatchTooLargeException(long most) {
    super(
        "the step's patch is larger than %,d bytes: let .gitignore name what it need not keep, or raise workspace.patchSize"
            .formatted(most));
  }
}
