package dev.holdfast.app.config.file;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a supervisor runs for a queue, as {@code queues.{queue}} in holdfast.yaml describes it. What
 * it leaves out is taken from {@code worker.processes} and {@code worker.concurrency}.
 */
public record QueueSettings(
    String queue, @Nullable Integer processes, @Nullable Integer concurrency) {
  private static final List<String> KEYS = List.of("processes", "concurrency");

  /** More processes on one machine would be a mistake. */
  public static final int MOST_PROCESSES = 1_000;

  static QueueSettings read(String queue, JsonNode node, Path folder) throws Nodes.WrongException {
    String at = "queues." + queue;
    if (!node.isNull()) {
      Nodes.requireKnown(at, node, KEYS);
    }
    try {
      Limits.queue(queue);
    } catch (RefusedException refused) {
      throw new Nodes.WrongException(at + ": " + refused.getMessage());
    }
    return new QueueSettings(
        queue,
        Nodes.whole(at + ".processes", node.get("processes"), 0, MOST_PROCESSES),
        Nodes.whole(at + ".concurrency", node.get("concurrency"), 1, 100_000));
  }
}
