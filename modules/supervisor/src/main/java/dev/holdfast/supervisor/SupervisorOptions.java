package dev.holdfast.supervisor;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How a supervisor looks after its workers.
 *
 * @param name under which its workers' rows stand; no two that run have the same
 * @param boot how long a process may take until it is healthy
 * @param silence after which a process that was healthy counts as crashed
 * @param look how often the database is asked
 * @param stop how long running jobs may take at a stop, before SIGTERM
 * @param terminate how long after that, before SIGKILL
 * @param recycle how long a process may be healthy with trouble, before it is started anew
 * @param folder where processes run
 * @param logs where their output goes
 * @param logBytes how much of it is kept, for each
 */
public record SupervisorOptions(
    String name,
    Duration boot,
    Duration silence,
    Duration look,
    Duration stop,
    Duration terminate,
    Duration recycle,
    RestartPolicy restarts,
    Path folder,
    Path logs,
    long logBytes) {
  /** What a process needs to end after its jobs have. */
  static final Duration ENDING = Duration.ofSeconds(2);

  public static final Duration LOOK = Duration.ofSeconds(1);
  public static final Duration TERMINATE = Duration.ofSeconds(5);
}
