package dev.holdfast.worker.source;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Subscription;
import dev.holdfast.worker.handler.UnknownKind;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Where a worker gets its jobs from, and gives them back: PostgreSQL directly, or a server over
 * HTTP.
 *
 * <p>Every call may be made again when its answer was lost. {@link SourceUnavailableException}
 * means that trying again may help; {@link RefusedException} that it will not. Any other exception
 * is logged, and tried again a few times.
 */
public interface JobSource {
  /**
   * Called once, before a worker starts: throws an exception that says what to change if the worker
   * could not work with this source. Takes some seconds at most.
   *
   * @param listens whether it is going to {@link #listen}
   */
  default void check(List<String> queues, boolean listens) {}

  /** How many jobs one claim gives at most, so that a worker can tell whether there may be more. */
  default int mostAtOnce() {
    return Integer.MAX_VALUE;
  }

  /**
   * Never repeated by the source: when the answer is lost, the worker asks for the leases under its
   * name and releases those it does not know.
   *
   * @param timings how long the leases last, and how long a handler may take to stop
   * @param versions which versions the worker has of kinds that have any: jobs that have begun with
   *     another are left for others
   */
  Claimed claim(String queue, int most, String worker, Timings timings, List<KindVersion> versions);

  /** Extends the leases; one result each, in no particular order. */
  List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease);

  /** The running jobs of this worker that have a cancellation or a command pending. */
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

  /** Ends the attempt, whose handler waits for something, unless that is there already. */
  default WaitAnswer suspend(Suspension suspension) {
    throw noWaits();
  }

  /** Enqueues jobs that the handler starts, or a part of them, if the attempt holds the job. */
  default Ack startChildren(Children children) {
    throw noWaits();
  }

  /** How these jobs have ended that the job has started, in their order. */
  default List<ChildEnd> children(Lease lease, List<JobId> jobs) {
    throw noWaits();
  }

  private static UnsupportedOperationException noWaits() {
    return new UnsupportedOperationException(
        "with this job source handlers can run steps, and not wait");
  }

  /** Whether this attempt has succeeded, by a settle in the handler's own transaction. */
  boolean succeeded(Lease lease);

  /** Every lease under the worker's name, also those whose claim's answer was lost. */
  List<Lease> heldBy(String worker);

  /** Due jobs in the queues, counted up to {@code most}. */
  long depth(List<String> queues, long most);

  /**
   * Whether a job whose kind has no handler in this worker should be left for others, because one
   * of them has a handler or may get one. A source that cannot tell goes by how often it was left.
   *
   * @param timeout how long a job waits while no live worker has a handler
   */
  default boolean mayHaveHandler(LeasedJob job, Duration timeout) {
    Duration left = Duration.ZERO;
    for (int attempt = 1; attempt < job.lease().attempt(); attempt++) {
      left = left.plus(UnknownKind.delay(attempt));
      if (left.compareTo(timeout) >= 0) {
        return false;
      }
    }
    return timeout.isPositive();
  }

  /**
   * Calls {@code wake} with a queue's name whenever it may have work. A hint: the worker polls as
   * well.
   */
  Subscription listen(Collection<String> queues, Consumer<String> wake);
}
