package dev.holdfast.app;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;

/** Values as they come from the command line. */
final class Input {
  private static final int MOST_BYTES = 1 << 28;

  private Input() {}

  /** The text itself, that of @FILE, or that of standard input for -. */
  static String read(String from) {
    try {
      if (from.equals("-")) {
        return text(System.in);
      } else if (from.startsWith("@")) {
        try (InputStream file = Files.newInputStream(Path.of(from.substring(1)))) {
          return text(file);
        }
      }
      return from;
    } catch (IOException | InvalidPathException unreadable) {
      throw new CommandException(
          ExitCode.USAGE, "the payload " + from + " cannot be read: " + unreadable);
    }
  }

  private static String text(InputStream in) throws IOException {
    byte[] bytes = in.readNBytes(MOST_BYTES + 1);
    if (bytes.length > MOST_BYTES) {
      throw new CommandException(ExitCode.REFUSED, "the input is larger than 256 MB: split it");
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static Duration duration(String option, String text) {
    try {
      return text.startsWith("-")
          ? Durations.parse(text.substring(1)).negated()
          : Durations.parse(text);
    } catch (IllegalArgumentException wrong) {
      throw new CommandException(ExitCode.USAGE, option + ": " + wrong.getMessage());
    }
  }

  static Instant instant(String option, String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException wrong) {
      throw new CommandException(
          ExitCode.USAGE,
          option + ": '" + text + "' is no instant: write for example 2030-12-31T23:59:00Z");
    }
  }
}
