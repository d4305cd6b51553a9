package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import java.util.List;

/**
 * A part of a job's log.
 *
 * @param next the cursor to continue from
 * @param skipped whether lines before the first part are not kept any more
 */
public record LogResource(List<Part> parts, String next, boolean skipped) {
  /** Whole lines of one attempt. */
  public record Part(int attempt, String text) {}

  public LogResource {
    parts = List.copyOf(Wire.present("parts", parts));
    Wire.present("next", next);
  }

  public static LogResource of(LogTail tail) {
    return new LogResource(
        tail.parts().stream().map(part -> new Part(part.attempt(), part.text())).toList(),
        tail.next().toString(),
        tail.skipped());
  }

  public LogTail tail() {
    return new LogTail(
        parts.stream().map(part -> new LogTail.Part(part.attempt(), part.text())).toList(),
        LogCursor.parse(next),
        skipped);
  }
}
