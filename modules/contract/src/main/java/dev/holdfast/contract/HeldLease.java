package dev.holdfast.contract;

import dev.holdfast.model.JobId;
import dev.holdfast.model.Lease;
import java.util.List;

/** One attempt at one task, as its worker names it. */
public record HeldLease(JobId taskId, int attempt) {
  public HeldLease {
    Wire.present("taskId", taskId);
    Fields.attempt(attempt);
  }

  public static HeldLease of(Lease lease) {
    return new HeldLease(lease.job(), lease.attempt());
  }

  public Lease lease() {
    return new Lease(taskId, attempt);
  }

  /** All that lie under one worker's name. */
  public record Answer(List<HeldLease> leases) {}

  /** Whether the attempt has succeeded. */
  public record Succeeded(boolean succeeded) {}
}
