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

/** The verbs on the model. */
public record ModelVerbs(ModelQueue queue) implements QueueVerbs {
  @Override
  public Enqueued enqueue(JobSpec job) {
    return queue.enqueue(job.job(), job.deadlineMillis() == 0 ? null : job.deadline());
  }

  @Override
  public void begin(JobSpec job) {
    queue.begin(job.job());
  }

  @Override
  public void commit() {
    queue.commit();
  }

  @Override
  public Claimed claim(String name, int most, String worker, Duration lease, Duration cancelGrace) {
    return queue.claim().claim(name, most, worker, lease, cancelGrace);
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return queue.claim().heartbeat(leases, lease);
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    return queue.claim().commands(worker);
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    return queue.reports().all(reports);
  }

  @Override
  public List<StepStatus> steps(Lease lease) {
    return queue.reports().steps(lease);
  }

  @Override
  public Ack publish(Publication publication) {
    return queue.reports().publish(publication);
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return queue.reports().artifacts(lease);
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    return queue.settle().all(settlements);
  }

  @Override
  public boolean succeeded(Lease lease) {
    return queue.settle().succeeded(lease);
  }

  @Override
  public List<Lease> heldBy(String worker) {
    return queue.claim().heldBy(worker);
  }

  @Override
  public void promote() {
    queue.recovery().promote();
  }

  @Override
  public Map<String, Integer> reapAndExpire(Duration reapGrace) {
    return queue.recovery().reapAndExpire(reapGrace);
  }

  @Override
  public int recover(String workerPrefix) {
    return queue.recovery().recover(workerPrefix);
  }

  @Override
  public List<Cancellation> cancel(JobId job, String reason) {
    return queue.cancel(job, reason);
  }

  @Override
  public Set<JobId> retry(JobId job) {
    return queue.retry(job);
  }

  @Override
  public void limit(String name, int maxRunning) {
    queue.limit(name, maxRunning);
  }

  @Override
  public void restarted() {
    queue.recovery().serverStarted();
  }

  @Override
  public List<String> rows() {
    return queue.rows();
  }
}
