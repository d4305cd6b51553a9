package dev.holdfast.app.cli;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.model.value.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Values as they come from the command line. */
public final class Input {
  private static final int MOST_BYTES = 1 << 28;

  private Input() {}

  /** JSON: the text itself, that of @FILE, or that of standard input for -. */
  public static Json json(String from) {
    return json("the payload", from);
  }

  /**
   * @param what it is called when it is none
   */
  public static Json json(String what, String from) {
    return json(what, from, read(from), 1);
  }

  /** One for each line that is not blank. */
  public static List<Json> jsonLines(String from) {
    List<String> lines = read(from).lines().toList();
    List<Json> read = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      if (!lines.get(i).isBlank()) {
        read.add(json("the payload", from, lines.get(i), i + 1));
      }
    }
    return read;
  }

  private static Json json(String what, String from, String text, int line) {
    Optional<String> problem = new JsonText(text, line).problem();
    if (problem.isPresent()) {
      boolean file = from.equals("-") || from.startsWith("@");
      // A shell removes double quotes that are not inside single quotes.
      boolean unquoted = !file && text.startsWith("{") && text.indexOf('"') < 0;
      throw new CommandException(
          ExitCode.REFUSED,
          "%s%s is not JSON: %s%s"
              .formatted(
                  what,
                  file ? " " + from : "",
                  problem.get(),
                  unquoted ? "; write it in single quotes: '{\"name\": 1}'" : ""));
    }
    return new Json(text);
  }

  private static String read(String from) {
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
          ExitCode.USAGE, "the payload %s cannot be read: %s".formatted(from, why(unreadable)));
    }
  }

  private static String why(Exception unreadable) {
    return switch (unreadable) {
      case NoSuchFileException missing -> "there is no such file";
      case AccessDeniedException denied -> "it may not be read";
      default -> String.valueOf(unreadable.getMessage());
    };
  }

  private static String text(InputStream in) throws IOException {
    byte[] bytes = in.readNBytes(MOST_BYTES + 1);
    if (bytes.length > MOST_BYTES) {
      throw new CommandException(ExitCode.REFUSED, "the input is larger than 256 MB: split it");
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  public static Duration duration(String option, String text) {
    try {
      return text.startsWith("-")
          ? Durations.parse(text.substring(1)).negated()
          : Durations.parse(text);
    } catch (IllegalArgumentException wrong) {
      throw new CommandException(ExitCode.USAGE, option + ": " + wrong.getMessage());
    }
  }

  /** Checks an option that limits how many lines are printed. */
  public static void limit(int limit, int most) {
    if (limit < 1 || limit > most) {
      throw new CommandException(ExitCode.USAGE, "--limit must be between 1 and " + most);
    }
  }

  public static Instant instant(String option, String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException wrong) {
      throw new CommandException(
          ExitCode.USAGE,
          option + ": '" + text + "' is no instant: write for example 2030-12-31T23:59:00Z");
    }
  }
}
