package dev.holdfast.model.search;

import dev.holdfast.model.job.JobId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * FAILED jobs by what they failed of.
 *
 * @param searched among how many jobs, the newest
 * @param more whether there are older failed jobs that were not read
 */
public record FailureGroups(List<Group> groups, long searched, boolean more) {
  /** How far back the counts of a group go, and how many there are. */
  public static final Duration PLOTTED = Duration.ofHours(24);

  public static final int POINTS = 24;

  public FailureGroups {
    groups = List.copyOf(groups);
  }

  /**
   * Jobs of one kind that failed with one code and messages that differ only in numbers and ids.
   *
   * @param signature names the group; the same everywhere and always
   * @param pattern the message, with {@code #} for what varies
   * @param message of the latest
   * @param queues those concerned, a few at most
   * @param workers those whose attempts failed, a few at most
   * @param hours how many failed in each of the last 24 hours, the current one last
   * @param latest the job that failed last
   */
  public record Group(
      String signature,
      String kind,
      String code,
      String pattern,
      String message,
      long jobs,
      Instant firstSeen,
      Instant lastSeen,
      List<String> queues,
      List<String> workers,
      List<Integer> hours,
      JobId latest) {
    public Group {
      queues = List.copyOf(queues);
      workers = List.copyOf(workers);
      hours = List.copyOf(hours);
    }
  }
}
