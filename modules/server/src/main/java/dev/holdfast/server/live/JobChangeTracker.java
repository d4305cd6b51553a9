package dev.holdfast.server.live;

import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The jobs of the last polls, to find those that changed. */
final class JobChangeTracker {
  /** How many jobs of each kind one poll reads: running, new, ended, known before. */
  static final int MOST_AT_ONCE = 500;

  /** More than one poll can read; otherwise a job could be evicted and look new again. */
  private static final int MOST = 5 * MOST_AT_ONCE;

  private final Map<JobId, JobBrief> seen = new LinkedHashMap<>();

  /** Jobs that have not ended, the latest first: the next poll reads them by id. */
  List<JobId> unfinished() {
    List<JobId> ids =
        new ArrayList<>(
            seen.values().stream()
                .filter(job -> !job.state().isTerminal())
                .map(JobBrief::id)
                .toList());
    return List.copyOf(ids.reversed().subList(0, Math.min(ids.size(), MOST_AT_ONCE)));
  }

  /** Those that differ from the last poll. */
  List<JobBrief> changed(List<JobBrief> polled) {
    List<JobBrief> changed = new ArrayList<>();
    for (JobBrief job : polled) {
      JobBrief before = seen.remove(job.id());
      seen.put(job.id(), job);
      if (!job.equals(before)) {
        changed.add(job);
      }
    }
    Iterator<JobId> eldest = seen.keySet().iterator();
    for (int over = seen.size() - MOST; over > 0; over--) {
      eldest.next();
      eldest.remove();
    }
    return changed;
  }

  /** The latest, as many as one poll reads of a kind. */
  List<JobBrief> latest() {
    return seen.values().stream().skip(Math.max(0, seen.size() - MOST_AT_ONCE)).toList();
  }
}
