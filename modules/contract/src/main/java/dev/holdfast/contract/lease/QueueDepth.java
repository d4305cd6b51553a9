package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.model.value.Limits;
import java.util.List;

/**
 * How many tasks are due in these queues.
 *
 * @param limit where counting may stop
 */
public record QueueDepth(List<String> queues, long limit) {
  private static final long LARGEST = 1_000_000;

  public QueueDepth {
    queues = Fields.list("queues", queues, QueueWait.MOST);
    queues.forEach(Limits::queue);
    if (limit < 1 || limit > LARGEST) {
      throw Fields.wrong("limit", "must be between 1 and " + LARGEST);
    }
  }

  public static QueueDepth of(List<String> queues, long limit) {
    return new QueueDepth(queues, Math.clamp(limit, 1, LARGEST));
  }

  /** So many, or as many as counting went to. */
  public record Answer(long depth) {}
}
