package dev.holdfast.chaos.fault;

import dev.holdfast.chaos.check.Recovery;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.fleet.MemoryGroup;
import dev.holdfast.chaos.fleet.SingleServer;
import dev.holdfast.chaos.load.Load;
import dev.holdfast.model.job.Job;
import org.jspecify.annotations.Nullable;

/**
 * What faults break.
 *
 * @param memory for a process that is to have less of it; null where no fault needs that
 */
public record Target(
    SingleServer server,
    Database database,
    Fleet fleet,
    Recovery recovery,
    Load load,
    @Nullable MemoryGroup memory) {
  /** Whether it was acknowledged. */
  boolean enqueue(Job job) {
    return load.enqueue(job);
  }
}
