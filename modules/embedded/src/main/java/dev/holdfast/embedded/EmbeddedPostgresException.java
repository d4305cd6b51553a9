package dev.holdfast.embedded;

import org.jspecify.annotations.Nullable;

/** The embedded server cannot be had; the message is one line and says what to do. */
public class EmbeddedPostgresException extends RuntimeException {

  EmbeddedPostgresException(String message) {
    this(message, null);
  }

  EmbeddedPostgresException(String message, @Nullable Throwable cause) {
    super(oneLine(message), cause);
  }

  // Parts of the message come from programs that answer in several lines.
  private static String oneLine(String message) {
    return message.strip().replaceAll("\\s*\\R\\s*", " | ");
  }
}
