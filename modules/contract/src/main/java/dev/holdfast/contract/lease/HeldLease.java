package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import java.util.List;

/** One attempt at one task, and the worker that holds it. */
public record HeldLease(JobId taskId, int attempt, String workerId) {
  public HeldLease {
    Wire.present("taskId", taskId);
    Fields.attempt(attempt);
    Fields.worker(workerId);
  }

  public static HeldLease of(Lease lease, String worker) {
    return new HeldLease(lease.job(), lease.attempt(), worker);
  }

  public Lease lease() {
    return new Lease(taskId, attempt);
  }

  /** All leases under one worker's name. */
  public record Answer(List<HeldLease> leases) {}

  /** Whether the attempt has succeeded. */
  public record Succeeded(boolean succeeded) {}
}
