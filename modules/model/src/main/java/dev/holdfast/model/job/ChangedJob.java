package dev.holdfast.model.job;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs to look at.
 *
 * @param since jobs that were made or have ended since then, by the database's clock
 * @param known jobs to look at whatever has become of them
 * @param tenant null is every tenant
 * @param most of each: running, made, ended
 */
public record ChangedJob(Instant since, List<JobId> known, @Nullable String tenant, int most) {
  public ChangedJob {
    known = List.copyOf(known);
  }
}
