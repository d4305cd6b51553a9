package dev.holdfast.steps;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where it is written how steps get on. */
public interface Journal {
  /** Returns once it is durable; throws when this worker no longer holds the job. */
  void write(Line line);

  /** An entry of the timeline by itself; as durable, and as fenced. */
  void tell(Event event);

  void count(String metric, Map<String, String> tags);

  void time(String metric, Map<String, String> tags, Duration took);

  /**
   * Where a step stands now, and what happened to it.
   *
   * @param reset whether the job was reset for it
   * @param forgetFrom steps from this index on are done no longer
   * @param honoured the operator's request that this carries out
   */
  record Line(
      String stepId,
      int index,
      StepState state,
      int attempt,
      boolean reset,
      @Nullable Json checkpoint,
      @Nullable Patch patch,
      @Nullable Integer forgetFrom,
      @Nullable Instant honoured,
      List<Event> events) {}

  /** An entry of the timeline. */
  record Event(String type, Map<String, Object> data) {}
}
