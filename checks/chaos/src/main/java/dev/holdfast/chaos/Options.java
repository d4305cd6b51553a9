package dev.holdfast.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a run is to be like.
 *
 * @param faulty how long faults go on
 * @param jobs how many jobs at most; they end with the faults otherwise
 * @param jobsPerSecond how many of them are enqueued in a second at most
 * @param only the names of the faults, one that comes more often more than once; null for all
 * @param json where the result goes; null for nowhere
 * @param perMinute how many faults, on average
 * @param failovers how often a cluster loses its primary; 0 for a single server and all faults
 * @param soak no faults, and a look at what the processes need
 */
public record Options(
    Duration faulty,
    long seed,
    int jobs,
    int jobsPerSecond,
    @Nullable List<String> only,
    @Nullable Path json,
    int perMinute,
    int failovers,
    boolean soak) {
  public static final int PER_MINUTE = 60;

  /** On a single server. */
  public Options(
      Duration faulty, long seed, int jobs, @Nullable List<String> only, @Nullable Path json) {
    this(faulty, seed, jobs, Integer.MAX_VALUE, only, json, PER_MINUTE, 0, false);
  }
}
