package dev.holdfast;

import static dev.holdfast.SourceErrors.translated;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.ClaimRequest;
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
import dev.holdfast.model.value.Subscription;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Queries;
import dev.holdfast.worker.source.JobSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Jobs straight from PostgreSQL. */
final class DirectSource implements JobSource {
  private final JobStore store;
  private final JobQueue jobs;
  private final Queries queries;

  DirectSource(JobStore store) {
    this.store = store;
    this.jobs = store.jobs();
    this.queries = store.queries();
  }

  @Override
  public void check(List<String> queues, boolean listens) {
    store.checkWorker(listens);
  }

  @Override
  public Claimed claim(
      String queueName, int most, String worker, Timings timings, List<KindVersion> versions) {
    return translated(
        () ->
            jobs.claim(
                new ClaimRequest(queueName, most, worker, timings.lease())
                    .cancelGrace(timings.cancelGrace())
                    .versions(versions)
                    .inBatches()));
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return translated(() -> jobs.heartbeat(leases, lease));
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    return translated(() -> jobs.commands(worker));
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    return translated(() -> jobs.report(reports));
  }

  @Override
  public List<StepStatus> steps(Lease lease) {
    return translated(() -> queries.steps(lease.job()));
  }

  @Override
  public Optional<Patch> patch(Lease lease, String step) {
    return translated(() -> queries.patch(lease.job(), step));
  }

  @Override
  public Ack publish(Publication publication) {
    return translated(() -> jobs.publish(publication));
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return translated(() -> queries.artifacts(lease.job()));
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    return translated(() -> jobs.settle(settlements));
  }

  @Override
  public WaitAnswer suspend(Suspension suspension) {
    return translated(() -> jobs.suspend(suspension));
  }

  @Override
  public Ack startChildren(Children children) {
    return translated(() -> jobs.startChildren(children));
  }

  @Override
  public List<ChildEnd> children(Lease lease, List<JobId> children) {
    return translated(() -> queries.children(lease.job(), children));
  }

  @Override
  public boolean succeeded(Lease lease) {
    return translated(() -> jobs.succeeded(lease));
  }

  @Override
  public List<Lease> heldBy(String worker) {
    return translated(() -> jobs.heldBy(worker));
  }

  @Override
  public long depth(List<String> queues, long most) {
    return translated(() -> queries.depth(queues, most, Tenant.ANY));
  }

  @Override
  public boolean mayHaveHandler(LeasedJob job, Duration timeout) {
    return translated(() -> jobs.mayHaveHandler(job.id(), timeout));
  }

  @Override
  public Subscription listen(Collection<String> queues, Consumer<String> wake) {
    return store.notifier().subscribe(queues, wake);
  }
}
