package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Tenant;
import java.time.Duration;
import java.util.List;

/**
 * What a worker asks for.
 *
 * @param most how many jobs at most
 * @param cancelGrace how long the worker lets a handler take to stop
 * @param versions which versions of kinds it has, where its kinds have any
 */
public record ClaimRequest(
    String queue,
    int most,
    String worker,
    Duration lease,
    Duration cancelGrace,
    Tenant tenant,
    Receiver receiver,
    List<KindVersion> versions) {
  public ClaimRequest {
    versions = List.copyOf(versions);
  }

  /** Who gets the jobs. */
  public enum Receiver {
    LOCAL,
    /**
     * A worker in the process of the queue, which settles many jobs at a time: of a backlog it gets
     * whole batches, whose claim writes one row.
     */
    LOCAL_IN_BATCHES,
    /**
     * A worker that asks over HTTP. It may be gone when the answer comes: a lease of which nothing
     * is heard again is requeued, a few times, without counting a crash.
     */
    REMOTE
  }

  /** Of jobs of any tenant, for a local worker with the usual cancel grace period. */
  public ClaimRequest(String queue, int most, String worker, Duration lease) {
    this(
        queue,
        most,
        worker,
        lease,
        Timings.DEFAULT_CANCEL_GRACE,
        Tenant.ANY,
        Receiver.LOCAL,
        List.of());
  }

  public ClaimRequest most(int value) {
    return new ClaimRequest(queue, value, worker, lease, cancelGrace, tenant, receiver, versions);
  }

  public ClaimRequest cancelGrace(Duration value) {
    return new ClaimRequest(queue, most, worker, lease, value, tenant, receiver, versions);
  }

  public ClaimRequest tenant(Tenant value) {
    return new ClaimRequest(queue, most, worker, lease, cancelGrace, value, receiver, versions);
  }

  public ClaimRequest versions(List<KindVersion> values) {
    return new ClaimRequest(queue, most, worker, lease, cancelGrace, tenant, receiver, values);
  }

  /** See {@link Receiver#LOCAL_IN_BATCHES}. */
  public ClaimRequest inBatches() {
    return receiver(Receiver.LOCAL_IN_BATCHES);
  }

  /** See {@link Receiver#REMOTE}. */
  public ClaimRequest remote() {
    return receiver(Receiver.REMOTE);
  }

  private ClaimRequest receiver(Receiver value) {
    return new ClaimRequest(queue, most, worker, lease, cancelGrace, tenant, value, versions);
  }
}
