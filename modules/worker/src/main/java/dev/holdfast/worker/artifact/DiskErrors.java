package dev.holdfast.worker.artifact;

import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import java.io.IOException;

/**
 * What a file system's refusal means for an attempt: try again later, perhaps elsewhere.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class DiskErrors {
  static final String DISK_FULL = "DISK_FULL";
  static final String DISK_FAILED = "DISK_FAILED";

  private DiskErrors() {}

  public static FailedException failed(String what, IOException error) {
    String message = String.valueOf(error.getMessage());
    // The JDK has no type for it; these are the system's own words, whatever the locale of Java.
    boolean full =
        message.contains("No space left on device") || message.contains("Disk quota exceeded");
    return FailedException.of(
        FailureCategory.INFRASTRUCTURE, full ? DISK_FULL : DISK_FAILED, what + ": " + message);
  }
}
