package dev.holdfast;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.queue.Queries;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Waits for the end of a job. The end of a job sends no notification, which would cost every
 * settle; so its state is read again and again, soon at first and twice a second later.
 */
final class AwaitJob {
  private static final Duration FIRST = Duration.ofMillis(5);
  private static final Duration LONGEST = Duration.ofMillis(500);

  private AwaitJob() {}

  static Optional<JobStatus> end(Queries queries, JobId job, Duration timeout)
      throws InterruptedException {
    long start = System.nanoTime();
    Duration pause = FIRST;
    while (!hasEnded(queries, job)) {
      Duration left = timeout.minusNanos(System.nanoTime() - start);
      if (!left.isPositive()) {
        return Optional.empty();
      }
      Thread.sleep(left.compareTo(pause) < 0 ? left : pause);
      pause = pause.multipliedBy(2);
      pause = pause.compareTo(LONGEST) > 0 ? LONGEST : pause;
    }
    return queries.find(job);
  }

  private static boolean hasEnded(Queries queries, JobId job) {
    return queries.states(List.of(job)).stream().anyMatch(each -> each.state().isTerminal());
  }
}
