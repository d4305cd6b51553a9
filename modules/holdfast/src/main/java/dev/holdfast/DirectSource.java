package dev.holdfast;

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
import dev.holdfast.model.value.Subscription;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Maintenance;
import dev.holdfast.queue.Queries;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.recover.ReapResult;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.SourceBusyException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Jobs straight from PostgreSQL. */
final class DirectSource implements JobSource {
  private static final int MOST_PAGES = 100;

  private final JobStore store;
  private final JobQueue jobs;
  private final Queries queries;
  private final Maintenance maintenance;
  private final HistoryUpkeep history;
  private final @Nullable DeleteOldJobs deleteOldJobs;

  DirectSource(JobStore store, @Nullable DeleteOldJobs deleteOldJobs) {
    this.store = store;
    this.jobs = store.jobs();
    this.queries = store.queries();
    this.maintenance = store.maintenance();
    this.history = new HistoryUpkeep(store.maintenance(), System::nanoTime);
    this.deleteOldJobs = deleteOldJobs;
  }

  @Override
  public void check(List<String> queues, boolean listens) {
    store.checkWorker(listens);
  }

  @Override
  public Claimed claim(String queueName, int most, String worker, Timings timings) {
    return asked(
        () -> jobs.claimInBatches(queueName, most, worker, timings.lease(), timings.cancelGrace()));
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return asked(() -> jobs.heartbeat(leases, lease));
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    return asked(() -> jobs.commands(worker));
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    return asked(() -> jobs.report(reports));
  }

  @Override
  public List<StepStatus> steps(Lease lease) {
    return asked(() -> queries.steps(lease.job()));
  }

  @Override
  public Optional<Patch> patch(Lease lease, String step) {
    return asked(() -> queries.patch(lease.job(), step));
  }

  @Override
  public Ack publish(Publication publication) {
    return asked(() -> jobs.publish(publication));
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return asked(() -> queries.artifacts(lease.job()));
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    return asked(() -> jobs.settle(settlements));
  }

  @Override
  public boolean succeeded(Lease lease) {
    return asked(() -> jobs.succeeded(lease));
  }

  @Override
  public List<Lease> heldBy(String worker) {
    return asked(() -> jobs.heldBy(worker));
  }

  @Override
  public long depth(List<String> queues, long most) {
    return asked(() -> queries.depth(queues, most));
  }

  @Override
  public Map<String, Integer> sweep(Timings timings, boolean reapLeases) {
    return asked(reapLeases ? () -> reapAndExpire(timings) : this::promote);
  }

  @Override
  public Map<String, Integer> endCancelled(Duration age) {
    return asked(() -> Map.of("timeout", count(maintenance.expireCancelled(age))));
  }

  @Override
  public Optional<Duration> fireSchedules() {
    return asked(maintenance::fireOnTime);
  }

  private Map<String, Integer> promote() {
    maintenance.promote();
    return Map.of();
  }

  /** Page after page until none is found: many workers may have died at the same time. */
  private Map<String, Integer> reapAndExpire(Timings timings) {
    Map<String, Integer> recovered = new HashMap<>();
    ReapResult lost;
    ReapResult late;
    int pages = 0;
    do {
      lost = maintenance.reap(timings.reapGrace());
      late = maintenance.expire();
      recovered.merge("stale", lost.requeued().size(), Integer::sum);
      recovered.merge("ended", lost.ended().size(), Integer::sum);
      recovered.merge("timeout", count(late), Integer::sum);
    } while (count(lost) + count(late) > 0 && ++pages < MOST_PAGES);
    return recovered;
  }

  private static int count(ReapResult reaped) {
    return reaped.requeued().size() + reaped.ended().size();
  }

  @Override
  public void sumUpHistory() {
    asked(
        () -> {
          history.runIfDue();
          return true;
        });
  }

  @Override
  public boolean deleteOldJobs() {
    return deleteOldJobs != null && asked(deleteOldJobs::runIfDue);
  }

  @Override
  public void announce(List<String> queues, Collection<String> kinds) {
    asked(
        () -> {
          jobs.announce(queues, kinds);
          return true;
        });
  }

  @Override
  public boolean mayHaveHandler(LeasedJob job, Duration timeout) {
    return asked(() -> jobs.mayHaveHandler(job.id(), timeout));
  }

  @Override
  public Subscription listen(Collection<String> queues, Consumer<String> wake) {
    return store.notifier().subscribe(queues, wake);
  }

  /** Only transient errors are worth another try; the others need a repair. */
  private static <T> T asked(Supplier<T> question) {
    try {
      return question.get();
    } catch (DatabaseException e) {
      if (!e.isTransient()) {
        throw e;
      }
      String message = String.valueOf(e.getMessage());
      throw e.isBusy()
          ? new SourceBusyException(message, e)
          : new SourceUnavailableException(message, e);
    }
  }
}
