package dev.holdfast.model.job;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs to read.
 *
 * @param since jobs that were made or have ended since then, by the database's clock
 * @param known jobs to read whatever their state
 * @param tenant null is every tenant
 * @param most of each: running, made, ended
 */
public record ChangedJob(Instant since, List<JobId> known, @Nullable String tenant, int most) {
  public ChangedJob {
    known = List.copyOf(known);
  }
}
