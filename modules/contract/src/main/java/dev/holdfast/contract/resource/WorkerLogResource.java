package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A part of what a worker's processes printed.
 *
 * @param text whole lines
 * @param next the cursor to continue from
 * @param skipped whether lines before these are not kept any more
 */
public record WorkerLogResource(String text, String next, boolean skipped) {
  public WorkerLogResource {
    Wire.present("text", text);
    Wire.present("next", next);
  }

  public static WorkerLogResource of(LogTail tail) {
    return new WorkerLogResource(
        tail.parts().stream().map(LogTail.Part::text).collect(Collectors.joining()),
        tail.next().toString(),
        tail.skipped());
  }

  public LogTail tail() {
    return new LogTail(
        text.isEmpty() ? List.of() : List.of(new LogTail.Part(1, text)),
        LogCursor.parse(next),
        skipped);
  }
}
