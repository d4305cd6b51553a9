package dev.holdfast.worker;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Lease;
import dev.holdfast.model.Publication;
import dev.holdfast.model.PublishedArtifact;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * The job source for attempts, which cannot go on without an answer: it is asked until it gives
 * one.
 */
final class PatientSource implements Publisher.Source {
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final JobSource source;
  private volatile boolean givenUp;

  PatientSource(JobSource source) {
    this.source = source;
  }

  /** The worker no longer waits for its jobs: whoever has no answer by now gets none. */
  void giveUp() {
    givenUp = true;
  }

  <T> T ask(Function<JobSource, T> question) {
    while (true) {
      try {
        return question.apply(source);
      } catch (SourceUnavailableException away) {
        if (givenUp) {
          throw away;
        }
        LockSupport.parkNanos(Loop.jittered(PAUSE).toNanos());
      }
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
