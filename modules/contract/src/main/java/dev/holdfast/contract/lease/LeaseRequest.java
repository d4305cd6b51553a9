package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Limits;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker asks for tasks.
 *
 * @param max how many it can run; 1 unless given
 * @param waitMs how long it waits for the first one; not at all unless given
 * @param leaseMs how long the leases last without a heartbeat, for a worker that says the same with
 *     each of its heartbeats; what the server gives all others unless given
 * @param cancelGracePeriodMs how long a cancelled task has to stop; as the server says unless given
 * @param versions which versions it has of kinds that have any: tasks that have begun with a
 *     version are leased to workers that name it, and to no others
 */
public record LeaseRequest(
    String workerId,
    @Nullable Integer max,
    @Nullable Long waitMs,
    @Nullable Long leaseMs,
    @Nullable Long cancelGracePeriodMs,
    @Nullable List<Version> versions) {
  public static final int MOST = 100;
  public static final long LONGEST_WAIT_MS = 60_000;
  public static final long SHORTEST_LEASE_MS = 100;
  public static final long LONGEST_LEASE_MS = 86_400_000;
  public static final long LONGEST_GRACE_MS = 31_536_000_000L;

  public LeaseRequest {
    Fields.worker(workerId);
    if (max != null && (max < 1 || max > MOST)) {
      throw Fields.wrong("max", "must be between 1 and " + MOST);
    }
    if (waitMs != null && (waitMs < 0 || waitMs > LONGEST_WAIT_MS)) {
      throw Fields.wrong("waitMs", "must be between 0 and " + LONGEST_WAIT_MS);
    }
    if (leaseMs != null) {
      lease(leaseMs);
    }
    if (cancelGracePeriodMs != null
        && (cancelGracePeriodMs < 1 || cancelGracePeriodMs > LONGEST_GRACE_MS)) {
      throw Fields.wrong("cancelGracePeriodMs", "must lie between 1 and " + LONGEST_GRACE_MS);
    }
    versions =
        versions == null || versions.isEmpty()
            ? null
            : Fields.list("versions", versions, KindVersion.MOST);
  }

  /** A version of a kind. */
  public record Version(String kind, int version) {
    public Version {
      Limits.kind(Wire.present("kind", kind));
      if (version < 1 || version > KindVersion.LAST) {
        throw Fields.wrong("version", "must be between 1 and " + KindVersion.LAST);
      }
    }
  }

  public List<KindVersion> kindVersions() {
    return versions == null
        ? List.of()
        : versions.stream()
            .map(each -> new KindVersion(each.kind(), each.version()))
            .sorted(Comparator.comparing(KindVersion::kind).thenComparingInt(KindVersion::version))
            .distinct()
            .toList();
  }

  /** At once, by the timings of the worker. */
  public static LeaseRequest of(
      String worker, int most, Timings timings, List<KindVersion> versions) {
    return new LeaseRequest(
        worker,
        most,
        0L,
        timings.lease().toMillis(),
        timings.cancelGrace().toMillis(),
        versions.isEmpty()
            ? null
            : versions.stream().map(each -> new Version(each.kind(), each.version())).toList());
  }

  public int most() {
    return max == null ? 1 : max;
  }

  public long waitMillis() {
    return waitMs == null ? 0 : waitMs;
  }

  static void lease(long leaseMs) {
    if (leaseMs < SHORTEST_LEASE_MS || leaseMs > LONGEST_LEASE_MS) {
      throw Fields.wrong(
          "leaseMs", "must be between " + SHORTEST_LEASE_MS + " and " + LONGEST_LEASE_MS);
    }
  }

  /**
   * None, if the wait timed out.
   *
   * @param nextDueInMs when there was none: how long until one becomes due, as far as it is known
   */
  public record Answer(List<TaskEnvelope> tasks, @Nullable Long nextDueInMs) {}
}
