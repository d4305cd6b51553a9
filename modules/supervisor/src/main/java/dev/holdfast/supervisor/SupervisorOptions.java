package dev.holdfast.supervisor;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How a supervisor treats its worker processes.
 *
 * @param name of the supervisor; no two that run may have the same
 * @param boot how long a process may take to become healthy
 * @param silence how long a process may report nothing before it counts as crashed
 * @param look how often the supervisor reads reports and commands
 * @param stop how long running jobs may take when a process is stopped, before SIGTERM
 * @param terminate how long after that, before SIGKILL
 * @param recycle how long a process may report trouble before it is restarted
 * @param folder the working directory of the processes
 * @param logs the folder of their output
 * @param logBytes how much output is kept of each
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
  /** How long a process may take to exit once its jobs have ended. */
  static final Duration ENDING = Duration.ofSeconds(2);

  public static final Duration LOOK = Duration.ofSeconds(1);
  public static final Duration TERMINATE = Duration.ofSeconds(5);
}
