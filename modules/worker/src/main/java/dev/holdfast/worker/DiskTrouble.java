package dev.holdfast.worker;

import dev.holdfast.model.FailedException;
import dev.holdfast.model.FailureCategory;
import java.io.IOException;

/** What a file system's refusal means for an attempt: try again later, perhaps elsewhere. */
final class DiskTrouble {
  static final String DISK_FULL = "DISK_FULL";
  static final String DISK_FAILED = "DISK_FAILED";

  private DiskTrouble() {}

  static FailedException failed(String what, IOException trouble) {
    String message = String.valueOf(trouble.getMessage());
    // The JDK has no type for it; these are the system's own words, whatever the locale of Java.
    boolean full =
        message.contains("No space left on device") || message.contains("Disk quota exceeded");
    return FailedException.of(
        FailureCategory.INFRASTRUCTURE, full ? DISK_FULL : DISK_FAILED, what + ": " + message);
  }
}
