package dev.holdfast.model.job;

import dev.holdfast.model.value.Tenant;
import java.time.Instant;
import java.util.List;

/**
 * Which jobs to read.
 *
 * @param since jobs that were made or have ended since then, by the database's clock
 * @param known jobs to read whatever their state
 * @param most of each: running, made, ended
 */
public record ChangedJob(Instant since, List<JobId> known, Tenant tenant, int most) {
  public ChangedJob {
    known = List.copyOf(known);
  }
}
