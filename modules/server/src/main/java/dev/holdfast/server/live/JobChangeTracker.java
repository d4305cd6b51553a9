package dev.holdfast.server.live;

import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The jobs of the last polls, to find those that changed. A job is followed until it has ended. */
final class JobChangeTracker {
  /** How many jobs of each kind one poll reads: running, new, ended. */
  static final int MOST_AT_ONCE = 500;

  /** How many jobs that have not ended are followed. */
  static final int MOST_FOLLOWED = 2_000;

  /** More than one poll can read; otherwise a job could be evicted and look new again. */
  private static final int MOST_ENDED = MOST_FOLLOWED + 3 * MOST_AT_ONCE;

  private final Map<JobId, JobBrief> seen = new LinkedHashMap<>();

  /**
   * What a poll has found.
   *
   * @param changed those that differ from the last poll
   * @param dropped those that are no longer followed, and whose end will not be told: deleted, or
   *     there are too many
   */
  record Changes(List<JobBrief> changed, List<JobId> dropped) {}

  /** Those that have not ended: the next poll reads them by id. */
  List<JobId> followed() {
    return seen.values().stream()
        .filter(job -> !job.state().isTerminal())
        .map(JobBrief::id)
        .toList();
  }

  /**
   * @param polled with all that are followed, except those that are there no longer
   */
  Changes changes(List<JobBrief> polled) {
    List<JobId> dropped = new ArrayList<>();
    Set<JobId> there = polled.stream().map(JobBrief::id).collect(Collectors.toSet());
    followed().stream().filter(id -> !there.contains(id)).forEach(dropped::add);
    dropped.forEach(seen::remove);
    List<JobBrief> changed = new ArrayList<>();
    for (JobBrief job : polled) {
      JobBrief before = seen.remove(job.id());
      seen.put(job.id(), job);
      if (!job.equals(before)) {
        changed.add(job);
      }
    }
    List<JobId> unused = evict(seen.size() - followed().size() - MOST_ENDED, JobState::isTerminal);
    // Those that wait first: there may be any number of them.
    Set<JobId> evicted = new HashSet<>();
    evicted.addAll(evict(followed().size() - MOST_FOLLOWED, JobChangeTracker::waits));
    evicted.addAll(evict(followed().size() - MOST_FOLLOWED, JobState.RUNNING::equals));
    dropped.addAll(evicted);
    changed.removeIf(job -> evicted.contains(job.id()));
    return new Changes(changed, dropped);
  }

  private static boolean waits(JobState state) {
    return !state.isTerminal() && state != JobState.RUNNING;
  }

  /** So many in one of these states, of which those with the lowest ids were polled first. */
  private List<JobId> evict(int many, Predicate<JobState> which) {
    List<JobId> evicted =
        seen.values().stream()
            .filter(job -> which.test(job.state()))
            .limit(Math.max(0, many))
            .map(JobBrief::id)
            .toList();
    evicted.forEach(seen::remove);
    return evicted;
  }

  /** The latest, as many as one poll reads of a kind. */
  List<JobBrief> latest() {
    return seen.values().stream().skip(Math.max(0, seen.size() - MOST_AT_ONCE)).toList();
  }
}
