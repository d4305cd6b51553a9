package dev.holdfast.queue.claim;

import dev.holdfast.queue.jdbc.Sql;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a worker asks for.
 *
 * @param most how many jobs at most
 * @param cancelGrace how long the worker lets a handler take to stop
 * @param tenant whose jobs; null for all
 * @param remote whether the answer is sent over HTTP, and may be lost there
 * @param payloads whether the claim reads them, see {@link UnreadableJobs}
 */
record ClaimRequest(
    String queue,
    int most,
    String worker,
    Duration lease,
    Duration cancelGrace,
    @Nullable String tenant,
    boolean remote,
    boolean payloads) {
  ClaimRequest(
      String queue,
      int most,
      String worker,
      Duration lease,
      Duration cancelGrace,
      @Nullable String tenant) {
    this(queue, most, worker, lease, cancelGrace, tenant, false, true);
  }

  ClaimRequest remote(boolean value) {
    return new ClaimRequest(queue, most, worker, lease, cancelGrace, tenant, value, payloads);
  }

  ClaimRequest most(int value) {
    return new ClaimRequest(queue, value, worker, lease, cancelGrace, tenant, remote, payloads);
  }

  ClaimRequest withoutPayloads(int most) {
    return new ClaimRequest(queue, most, worker, lease, cancelGrace, tenant, remote, false);
  }

  /** Binds what every claim statement has. */
  Sql.Call bind(Sql.Call call) {
    return call.set("queue", queue)
        .set("worker", worker)
        .set("lease", lease)
        .set("cancelGrace", cancelGrace)
        .set("remote", remote)
        .tenant(tenant);
  }
}
