package dev.holdfast.app.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a supervisor runs for a queue, as {@code queues.{queue}} in holdfast.yaml describes it. What
 * it leaves out is as for every worker.
 */
public record QueueSettings(
    String queue, @Nullable Integer processes, @Nullable Integer concurrency) {
  private static final List<String> KEYS = List.of("processes", "concurrency");

  /** More on one machine would be a mistake. */
  public static final int MOST_PROCESSES = 1_000;

  static QueueSettings read(String queue, JsonNode node, Path folder)
      throws ProgramSettings.WrongException {
    String at = "queues." + queue;
    if (!node.isNull()) {
      ProgramSettings.known(at, node, KEYS);
    }
    try {
      Limits.queue(queue);
    } catch (RefusedException refused) {
      throw new ProgramSettings.WrongException(at + ": " + refused.getMessage());
    }
    return new QueueSettings(
        queue,
        whole(at + ".processes", node.get("processes"), 0, MOST_PROCESSES),
        whole(at + ".concurrency", node.get("concurrency"), 1, 100_000));
  }

  static @Nullable Integer whole(String at, @Nullable JsonNode node, int least, int most)
      throws ProgramSettings.WrongException {
    if (node == null || node.isNull()) {
      return null;
    }
    if (!node.canConvertToInt()
        || !node.isIntegralNumber()
        || node.intValue() < least
        || node.intValue() > most) {
      throw new ProgramSettings.WrongException(
          "%s must be a whole number between %,d and %,d".formatted(at, least, most));
    }
    return node.intValue();
  }
}
