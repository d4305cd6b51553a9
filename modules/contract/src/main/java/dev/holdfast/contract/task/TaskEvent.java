package dev.holdfast.contract.task;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.value.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An entry for the timeline of a task.
 *
 * @param data any JSON; an empty object unless given
 */
public record TaskEvent(int attempt, @Nullable String attemptId, String type, @Nullable Json data) {
  public TaskEvent {
    Fields.attempt(attempt);
    Wire.present("type", type);
  }

  /** What it is answered. */
  public record Answer(boolean acknowledged, Instant serverTime) {}
}
