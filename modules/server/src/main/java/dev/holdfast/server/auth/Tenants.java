package dev.holdfast.server.auth;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.queue.JobQueries;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Whose jobs are whose. That never changes, so what was looked up once is remembered. */
public final class Tenants {
  private static final int MOST_REMEMBERED = 100_000;

  private final JobQueries queries;
  private final Map<JobId, String> remembered =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<JobId, String> eldest) {
          return size() > MOST_REMEMBERED;
        }
      };

  public Tenants(JobQueries queries) {
    this.queries = queries;
  }

  /** Those of the jobs that the caller may touch. */
  public Set<JobId> seenBy(Caller caller, Collection<JobId> jobs) {
    Set<JobId> asked = new HashSet<>(jobs);
    if (caller.seesEveryTenant()) {
      return asked;
    }
    Set<JobId> seen = new HashSet<>();
    synchronized (remembered) {
      asked.removeIf(job -> isKnown(caller, job, seen));
    }
    List<JobStateSnapshot> found = queries.states(List.copyOf(asked));
    synchronized (remembered) {
      for (JobStateSnapshot fate : found) {
        remembered.put(fate.job(), fate.tenant());
        isKnown(caller, fate.job(), seen);
      }
    }
    return seen;
  }

  private boolean isKnown(Caller caller, JobId job, Set<JobId> seen) {
    String tenant = remembered.get(job);
    if (tenant != null && caller.sees(tenant)) {
      seen.add(job);
    }
    return tenant != null;
  }
}
