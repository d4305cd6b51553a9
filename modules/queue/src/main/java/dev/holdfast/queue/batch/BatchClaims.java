package dev.holdfast.queue.batch;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers in which batch claim the jobs are that this process claimed, so that their settle finds
 * it. What is forgotten here costs a statement more: the settle then writes the job out first.
 */
public final class BatchClaims {
  /** Only first attempts are claimed in batches. */
  public static final int ATTEMPT = 1;

  /** By then heartbeats and sweeps have materialized what was not settled. */
  private static final Duration KEPT = Duration.ofMinutes(1);

  /**
   * Where a job is.
   *
   * @param claim its batch claim
   * @param place of its row, for as long as that is not written: the ctid
   */
  public record Member(long claim, String place) {}

  private static final class Batch {
    private final long claim;
    private final Map<JobId, String> jobs;
    private final long claimedAt;
    private int left;

    Batch(long claim, Map<JobId, String> jobs, long claimedAt) {
      this.claim = claim;
      this.jobs = jobs;
      this.claimedAt = claimedAt;
      this.left = jobs.size();
    }
  }

  private final LongSupplier nanos;
  private final Map<JobId, Batch> batches = new ConcurrentHashMap<>();
  private final Deque<Batch> inOrder = new ArrayDeque<>();
  private final List<Long> settled = new ArrayList<>();

  public BatchClaims() {
    this(System::nanoTime);
  }

  BatchClaims(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * @param jobs the places of their rows
   */
  public void claimed(long claim, Map<JobId, String> jobs) {
    Batch batch = new Batch(claim, jobs, nanos.getAsLong());
    jobs.keySet().forEach(job -> batches.put(job, batch));
    synchronized (this) {
      inOrder.add(batch);
      while (batch.claimedAt - inOrder.element().claimedAt > KEPT.toNanos()) {
        Batch old = inOrder.remove();
        old.jobs.keySet().forEach(job -> batches.remove(job, old));
      }
    }
  }

  /** Null for a job that was claimed row by row, or long ago. */
  public @Nullable Member find(Lease lease) {
    Batch batch = lease.attempt() == ATTEMPT ? batches.get(lease.job()) : null;
    if (batch == null) {
      return null;
    }
    String place = batch.jobs.get(lease.job());
    return place == null ? null : new Member(batch.claim, place);
  }

  /** These are written, and the transaction that did it has committed. */
  public synchronized void settled(Collection<Lease> leases) {
    for (Lease lease : leases) {
      Batch batch = lease.attempt() == ATTEMPT ? batches.remove(lease.job()) : null;
      if (batch != null && --batch.left == 0) {
        settled.add(batch.claim);
        inOrder.remove(batch);
      }
    }
  }

  /** Claims all of whose jobs are settled, to be deleted along with something else. */
  public synchronized List<Long> takeSettled() {
    List<Long> taken = List.copyOf(settled);
    settled.clear();
    return taken;
  }
}
