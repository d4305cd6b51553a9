package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.JobId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the model and the real queue are both asked. */
public interface QueueVerbs {
  Enqueued enqueue(JobSpec job);

  /** Enqueues in a transaction that stays open until {@link #commit}. */
  void begin(JobSpec job);

  void commit();

  Claimed claim(String queue, int most, String worker, Duration lease, Duration cancelGrace);

  List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease);

  List<HeartbeatResult> commands(String worker);

  List<Ack> report(List<Report> reports);

  List<StepStatus> steps(Lease lease);

  Ack publish(Publication publication);

  List<PublishedArtifact> artifacts(Lease lease);

  List<Ack> settle(List<Settlement> settlements);

  boolean succeeded(Lease lease);

  List<Lease> heldBy(String worker);

  /** Promotes what is due, and reaps nothing. */
  void promote();

  Map<String, Integer> reapAndExpire(Duration reapGrace);

  /** Takes back the jobs of a process that is known to be dead; how many. */
  int recover(String workerPrefix);

  List<Cancellation> cancel(JobId job, String reason);

  Set<JobId> retry(JobId job);

  void limit(String queue, int maxRunning);

  /** The database server was restarted. */
  void restarted();

  /** Every job in one line. */
  List<String> rows();
}
