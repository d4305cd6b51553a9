package dev.holdfast.worker.source;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Subscription;
import dev.holdfast.worker.handler.UnknownKind;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Where a worker gets its jobs from, and all it knows of the world: PostgreSQL directly, or a
 * server over HTTP.
 *
 * <p>Every call may be made again when its answer was lost. {@link SourceUnavailableException}
 * means that trying again may help; {@link RefusedException} that it will not. Any other exception
 * is logged, and tried again a few times.
 */
public interface JobSource {
  /**
   * Asked once, before a worker starts: throws what says what to do when it could not work here.
   * Takes some seconds at most.
   *
   * @param listens whether it is going to {@link #listen}
   */
  default void check(List<String> queues, boolean listens) {}

  /** How many jobs one claim gives at most, so that a worker can tell whether there may be more. */
  default int mostAtOnce() {
    return Integer.MAX_VALUE;
  }

  /**
   * Not tried again behind the worker's back: when the answer is lost, the worker asks what lies
   * under its name and releases those it does not know.
   *
   * @param timings how long the leases last, and how long a handler may take to stop
   */
  Claimed claim(String queue, int most, String worker, Timings timings);

  /** Extends the leases; one result each, in no particular order. */
  List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease);

  /** The running jobs of this worker of whom something is asked: to stop, or by an operator. */
  List<HeartbeatResult> commands(String worker);

  /** One answer per report, in their order. */
  List<Ack> report(List<Report> reports);

  /** The steps of the job that is held, in their order. */
  List<StepStatus> steps(Lease lease);

  /** The changes that a step made in its workspace, if it is done and has one. */
  Optional<Patch> patch(Lease lease, String step);

  /** Takes the artifacts for the job's, if the attempt holds it. */
  Ack publish(Publication publication);

  /** What this attempt and those before it have published. */
  List<PublishedArtifact> artifacts(Lease lease);

  /** One answer per settlement, in their order. */
  List<Ack> settle(List<Settlement> settlements);

  /** Whether this attempt has succeeded, by a settle in the handler's own transaction. */
  boolean succeeded(Lease lease);

  /** Every lease under the worker's name, those it never heard of included. */
  List<Lease> heldBy(String worker);

  /** Due jobs in the queues, counted up to {@code most}. */
  long depth(List<String> queues, long most);

  /**
   * Keeps the queue in order. With {@code judge} takes back lost leases and ends what is out of
   * time, and answers how many jobs were recovered, by reason; without it does only what judges
   * nobody. Nothing to do where a server does it.
   */
  Map<String, Integer> sweep(Timings timings, boolean judge);

  /**
   * Enqueues the jobs of schedules that are due. The answer is how long until the next one is;
   * empty when there is none, or where a server does it.
   */
  default Optional<Duration> fireSchedules() {
    return Optional.empty();
  }

  /**
   * Sums up jobs that ended, if it is time to, for the history that outlives them. Nothing to do
   * where a server does it.
   */
  default void sumUpHistory() {}

  /**
   * Deletes some of the jobs that ended long ago, if the source was told to keep jobs for a limited
   * time. True when there are more to delete now. Nothing to do where a server does it.
   */
  default boolean deleteOldJobs() {
    return false;
  }

  /**
   * Says for which kinds this worker has handlers, every half minute or so. Nothing to do where
   * nobody would know.
   */
  default void announce(List<String> queues, Collection<String> kinds) {}

  /**
   * Whether a job of a kind that this worker does not know should be left for others, because one
   * of them knows it or may come to. A source that cannot tell goes by how often it was left.
   *
   * @param patience how long nobody may know it
   */
  default boolean mayBeKnown(LeasedJob job, Duration patience) {
    Duration left = Duration.ZERO;
    for (int attempt = 1; attempt < job.lease().attempt(); attempt++) {
      left = left.plus(UnknownKind.delay(attempt));
      if (left.compareTo(patience) >= 0) {
        return false;
      }
    }
    return patience.isPositive();
  }

  /** Calls {@code wake} with a queue's name whenever it may have work. A hint: polling goes on. */
  Subscription listen(Collection<String> queues, Consumer<String> wake);
}
