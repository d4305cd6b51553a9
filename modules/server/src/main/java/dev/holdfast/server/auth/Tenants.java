package dev.holdfast.server.auth;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.queue.Queries;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The tenants of jobs. A job's tenant never changes, so the cache needs no expiry. */
public final class Tenants {
  private static final int MOST_CACHED = 100_000;

  private final Queries queries;
  private final Cache<JobId, String> tenants =
      Caffeine.newBuilder().maximumSize(MOST_CACHED).build();

  public Tenants(Queries queries) {
    this.queries = queries;
  }

  /** Those of the jobs that exist and whose tenant the caller may see. */
  public Set<JobId> seenBy(Caller caller, Collection<JobId> jobs) {
    Set<JobId> asked = new HashSet<>(jobs);
    if (caller.seesEveryTenant()) {
      return asked;
    }
    Set<JobId> seen = new HashSet<>();
    tenants
        .getAllPresent(asked)
        .forEach(
            (job, tenant) -> {
              asked.remove(job);
              if (caller.sees(tenant)) {
                seen.add(job);
              }
            });
    for (JobStateSnapshot found : queries.states(List.copyOf(asked))) {
      tenants.put(found.job(), found.tenant());
      // Not read back from the cache, which may have evicted it already.
      if (caller.sees(found.tenant())) {
        seen.add(found.job());
      }
    }
    return seen;
  }
}
