package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.model.value.Limits;
import java.util.List;

/**
 * A worker that has nothing to do waits until one of its queues may have work.
 *
 * @param waitMs how long
 */
public record QueueWait(String workerId, List<String> queues, long waitMs) {
  public static final int MOST = 1_000;

  public QueueWait {
    Fields.worker(workerId);
    queues = Fields.list("queues", queues, MOST);
    queues.forEach(Limits::queue);
    if (waitMs < 0 || waitMs > LeaseRequest.LONGEST_WAIT_MS) {
      throw Fields.wrong("waitMs", "must be between 0 and " + LeaseRequest.LONGEST_WAIT_MS);
    }
  }

  /** Those that may have work; none, if the wait timed out. */
  public record Answer(List<String> queues) {}
}
