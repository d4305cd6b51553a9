package dev.holdfast.test;

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
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Subscription;
import dev.holdfast.worker.source.JobSource;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The way of a worker to the database, until a boundary of one job at which the worker dies: from
 * then on nothing it does is written. It is told that its leases are lost, so its handlers leave.
 */
final class CrashingSource implements JobSource {
  /** A moment of a job: before or after something that is committed. */
  record Boundary(boolean isAfter, String what) {
    private static final String STEP = "step '";

    static String ofStep(String id) {
      return STEP + id + "' was written";
    }

    /** Whether what was done in a step is done again after a death here, as it must be. */
    boolean repeatsAStep() {
      return !isAfter && what.startsWith(STEP);
    }

    @Override
    public String toString() {
      return (isAfter ? "after " : "before ") + what;
    }
  }

  private final JobSource source;
  private final JobId job;
  private final @Nullable Boundary last;
  private final Set<Boundary> reached = new LinkedHashSet<>();
  private final Set<String> workers = ConcurrentHashMap.newKeySet();
  private volatile boolean dead;

  /**
   * @param last where it dies; null for one that lives
   * @param before what was reached by workers before
   */
  CrashingSource(JobSource source, JobId job, @Nullable Boundary last, List<Boundary> before) {
    this.source = source;
    this.job = job;
    this.last = last;
    reached.addAll(before);
  }

  boolean isDead() {
    return dead;
  }

  /** Under which it has claimed jobs. */
  Set<String> workers() {
    return workers;
  }

  synchronized List<Boundary> reached() {
    return List.copyOf(reached);
  }

  private synchronized boolean dies(boolean isAfter, String what) {
    Boundary now = new Boundary(isAfter, what);
    reached.add(now);
    dead |= now.equals(last);
    return dead;
  }

  /**
   * @param what is written; null where it does not concern the job
   */
  private <T> T writing(@Nullable String what, T lost, Supplier<T> call) {
    if (dead || (what != null && dies(false, what))) {
      return lost;
    }
    T answer = call.get();
    return dead || (what != null && dies(true, what)) ? lost : answer;
  }

  private @Nullable String ofJob(Lease lease, String what) {
    return lease.job().equals(job) ? what : null;
  }

  private static List<Ack> lost(List<?> all) {
    return all.stream().map(each -> Ack.LEASE_LOST).toList();
  }

  // ---- what is written

  @Override
  public List<Ack> report(List<Report> reports) {
    String step =
        reports.stream()
            .map(this::stepDone)
            .filter(Objects::nonNull)
            .reduce((first, second) -> second)
            .orElse(null);
    return writing(step, lost(reports), () -> source.report(reports));
  }

  private @Nullable String stepDone(Report report) {
    return report instanceof Report.Step step && step.state() == StepState.DONE
        ? ofJob(step.lease(), Boundary.ofStep(step.stepId()))
        : null;
  }

  @Override
  public WaitAnswer suspend(Suspension suspension) {
    return writing(
        ofJob(suspension.lease(), "the wait '" + suspension.asked().id() + "' was written"),
        WaitAnswer.LEASE_LOST,
        () -> source.suspend(suspension));
  }

  @Override
  public Ack startChildren(Children children) {
    return writing(
        ofJob(children.lease(), "the jobs of '" + children.id() + "' were started"),
        Ack.LEASE_LOST,
        () -> source.startChildren(children));
  }

  @Override
  public Ack publish(Publication publication) {
    return writing(
        ofJob(publication.lease(), "its artifacts were published"),
        Ack.LEASE_LOST,
        () -> source.publish(publication));
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    String end =
        settlements.stream().anyMatch(each -> each.lease().job().equals(job))
            ? "its attempt was settled"
            : null;
    return writing(end, lost(settlements), () -> source.settle(settlements));
  }

  @Override
  public Claimed claim(
      String queue, int most, String worker, Timings timings, List<KindVersion> versions) {
    workers.add(worker);
    return dead ? Claimed.NOTHING : source.claim(queue, most, worker, timings, versions);
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return dead
        ? leases.stream().map(each -> new HeartbeatResult(each, Ack.LEASE_LOST, null)).toList()
        : source.heartbeat(leases, lease);
  }

  // ---- what is read

  @Override
  public void check(List<String> queues, boolean listens) {
    source.check(queues, listens);
  }

  @Override
  public int mostAtOnce() {
    return source.mostAtOnce();
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    return source.commands(worker);
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
  public List<PublishedArtifact> artifacts(Lease lease) {
    return source.artifacts(lease);
  }

  @Override
  public List<ChildEnd> children(Lease lease, List<JobId> jobs) {
    return source.children(lease, jobs);
  }

  @Override
  public boolean succeeded(Lease lease) {
    return source.succeeded(lease);
  }

  @Override
  public List<Lease> heldBy(String worker) {
    return dead ? List.of() : source.heldBy(worker);
  }

  @Override
  public long depth(List<String> queues, long most) {
    return source.depth(queues, most);
  }

  @Override
  public boolean mayHaveHandler(LeasedJob leased, Duration timeout) {
    return source.mayHaveHandler(leased, timeout);
  }

  @Override
  public Subscription listen(Collection<String> queues, Consumer<String> wake) {
    return source.listen(queues, wake);
  }
}
