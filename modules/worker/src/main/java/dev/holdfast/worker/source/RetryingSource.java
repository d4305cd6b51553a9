package dev.holdfast.worker.source;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.worker.artifact.Publisher;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * The job source for attempts, which cannot continue without an answer: calls are repeated until
 * there is one.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class RetryingSource implements Publisher.Source {
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final JobSource source;
  private volatile boolean givenUp;

  public RetryingSource(JobSource source) {
    this.source = source;
  }

  /** The worker no longer waits for its jobs: calls without an answer fail from now on. */
  public void giveUp() {
    givenUp = true;
  }

  public <T> T ask(Function<JobSource, T> question) {
    while (true) {
      try {
        return question.apply(source);
      } catch (SourceUnavailableException unavailable) {
        if (givenUp) {
          throw unavailable;
        }
        pause();
      }
    }
  }

  /**
   * Waits although a handler that is to stop has its interrupt set, with which a thread does not
   * park: it would ask in a loop for as long as the source is unavailable. An interrupt also leaves
   * a permit behind, so one park may return at once.
   */
  private static void pause() {
    long until = System.nanoTime() + Loop.jittered(PAUSE).toNanos();
    boolean interrupted = false;
    for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
      interrupted |= Thread.interrupted();
      LockSupport.parkNanos(left);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public Ack publish(Publication publication) {
    return ask(it -> it.publish(publication));
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return ask(it -> it.artifacts(lease));
  }
}
