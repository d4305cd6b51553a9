package dev.holdfast.server.live;

import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The jobs that were looked at lately, to tell which of them have changed since. */
final class SeenJobs {
  /** How many of each kind one look sees: running, new, ended, known before. */
  static final int MOST_AT_ONCE = 500;

  /** More than one look can see, or a job would be forgotten and be news again at the next. */
  private static final int MOST = 5 * MOST_AT_ONCE;

  private final Map<JobId, JobBrief> seen = new LinkedHashMap<>();

  /** Jobs that have not ended, the latest first: wherever they go, they are looked after. */
  List<JobId> unfinished() {
    List<JobId> ids =
        new ArrayList<>(
            seen.values().stream()
                .filter(job -> !job.state().isTerminal())
                .map(JobBrief::id)
                .toList());
    return List.copyOf(ids.reversed().subList(0, Math.min(ids.size(), MOST_AT_ONCE)));
  }

  /** Those that are not as they were. */
  List<JobBrief> changed(List<JobBrief> looked) {
    List<JobBrief> changed = new ArrayList<>();
    for (JobBrief job : looked) {
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

  /** The latest, as many as one look sees of a kind. */
  List<JobBrief> latest() {
    return seen.values().stream().skip(Math.max(0, seen.size() - MOST_AT_ONCE)).toList();
  }
}
