package dev.holdfast;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Subscription;
import dev.holdfast.worker.source.JobSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** A source whose first claim with jobs in it comes back only after something else has happened. */
final class SlowClaims implements JobSource {
  /** What happens meanwhile. */
  interface Meanwhile {
    void happens() throws Exception;
  }

  private final JobSource source;
  private final Meanwhile meanwhile;
  private boolean happened;

  SlowClaims(JobSource source, Meanwhile meanwhile) {
    this.source = source;
    this.meanwhile = meanwhile;
  }

  @Override
  public synchronized Claimed claim(
      String queue, int most, String worker, Timings timings, List<KindVersion> versions) {
    Claimed claimed = source.claim(queue, most, worker, timings, versions);
    if (!claimed.jobs().isEmpty() && !happened) {
      happened = true;
      try {
        meanwhile.happens();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
    return claimed;
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return source.heartbeat(leases, lease);
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    return source.commands(worker);
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    return source.report(reports);
  }

  @Override
  public List<StepStatus> steps(Lease lease) {
    return source.steps(lease);
  }

  @Override
  public Optional<Patch> patch(Lease lease, String step) {
    return source.patch(lease, step);
  }

  @Override
  public Ack publish(Publication publication) {
    return source.publish(publication);
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return source.artifacts(lease);
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    return source.settle(settlements);
  }

  @Override
  public boolean succeeded(Lease lease) {
    return source.succeeded(lease);
  }

  @Override
  public List<Lease> heldBy(String worker) {
    return source.heldBy(worker);
  }

  @Override
  public long depth(List<String> queues, long most) {
    return source.depth(queues, most);
  }

  @Override
  public Subscription listen(Collection<String> queues, Consumer<String> wake) {
    return source.listen(queues, wake);
  }
}
