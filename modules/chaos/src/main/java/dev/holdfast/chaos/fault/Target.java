package dev.holdfast.chaos.fault;

import dev.holdfast.chaos.check.Recovery;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.fleet.SingleServer;
import dev.holdfast.chaos.load.Load;
import dev.holdfast.model.job.Job;

/** What faults break. */
public record Target(
    SingleServer server, Database database, Fleet fleet, Recovery recovery, Load load) {
  /** Whether it was acknowledged. */
  boolean enqueue(Job job) {
    return load.enqueue(job);
  }
}
