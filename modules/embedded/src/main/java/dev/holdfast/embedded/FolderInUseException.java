package dev.holdfast.embedded;

import java.nio.file.Path;

/** A live process already holds the folder. */
public final class FolderInUseException extends EmbeddedPostgresException {

  FolderInUseException(Path folder, String holder) {
    super(
        "folder %s is in use by %s: stop that process, or choose another folder"
            .formatted(folder, holder));
  }
}
