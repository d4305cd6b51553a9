package dev.holdfast.worker.source;

import dev.holdfast.model.attempt.Ack;
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
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Subscription;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A source in memory: returns jobs, keeps leases, records every call, and fails on demand. */
public final class MemorySource implements JobSource {
  public final Queue<LeasedJob> waiting = new ConcurrentLinkedQueue<>();
  public final Set<Lease> held = ConcurrentHashMap.newKeySet();
  public final Set<Lease> succeeded = ConcurrentHashMap.newKeySet();
  public final Set<Lease> unstorable = ConcurrentHashMap.newKeySet();
  public final Map<Lease, String> cancelled = new ConcurrentHashMap<>();
  public final List<String> calls = new CopyOnWriteArrayList<>();
  public final List<List<Settlement>> settled = new CopyOnWriteArrayList<>();
  final List<List<Report>> reported = new CopyOnWriteArrayList<>();
  final List<Publication> published = new CopyOnWriteArrayList<>();
  public final List<String> queuesAsked = new CopyOnWriteArrayList<>();

  /** Called with the name of each verb before it does anything: may throw, or wait. */
  public volatile Consumer<String> before = verb -> {};

  /** Called with what is to be settled. */
  public volatile Consumer<List<Settlement>> beforeSettle = settlements -> {};

  /** Called after a claim, before its answer is given. */
  public volatile Consumer<List<LeasedJob>> afterClaim = jobs -> {};

  public volatile boolean unavailable;
  public volatile @Nullable Predicate<LeasedJob> mayHaveHandler;
  public volatile boolean forgetsAnAnswer;
  public volatile long depth;
  public volatile int mostAtOnce = Integer.MAX_VALUE;
  public volatile @Nullable Duration nextDue;
  public volatile @Nullable String asksForAnEmptyWorker;
  public volatile @Nullable Consumer<String> wake;

  public MemorySource with(LeasedJob... jobs) {
    waiting.addAll(List.of(jobs));
    return this;
  }

  /** Held as if it had been claimed. */
  public LeasedJob hold(LeasedJob job) {
    held.add(job.lease());
    return job;
  }

  public List<Settlement> allSettled() {
    return settled.stream().flatMap(List::stream).toList();
  }

  public List<Report> allReported() {
    return reported.stream().flatMap(List::stream).toList();
  }

  public long calls(String verb) {
    return calls.stream().filter(verb::equals).count();
  }

  private void called(String verb) {
    calls.add(verb);
    before.accept(verb);
    if (unavailable) {
      throw new SourceUnavailableException(verb + ": away", new IllegalStateException());
    }
  }

  @Override
  public int mostAtOnce() {
    return mostAtOnce;
  }

  @Override
  public Claimed claim(
      String queue, int most, String worker, Timings timings, List<KindVersion> versions) {
    called("claim");
    queuesAsked.add(queue);
    if (queue.equals(asksForAnEmptyWorker)) {
      return new Claimed(List.of(), null, true);
    }
    List<LeasedJob> jobs = new ArrayList<>();
    LeasedJob next;
    while (jobs.size() < most && (next = waiting.poll()) != null) {
      jobs.add(hold(next));
    }
    afterClaim.accept(jobs);
    return new Claimed(jobs, jobs.isEmpty() ? nextDue : null);
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    called("heartbeat");
    return leases.stream()
        .map(
            l ->
                new HeartbeatResult(
                    l, held.contains(l) ? Ack.ACCEPTED : Ack.LEASE_LOST, cancelled.get(l)))
        .toList();
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    called("commands");
    return cancelled.entrySet().stream()
        .filter(entry -> held.contains(entry.getKey()))
        .map(entry -> new HeartbeatResult(entry.getKey(), Ack.ACCEPTED, entry.getValue()))
        .toList();
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    called("report");
    refuseUnstorable(reports.stream().map(Report::lease));
    reported.add(List.copyOf(reports));
    return reports.stream().map(report -> ack(held.contains(report.lease()))).toList();
  }

  /** Those that were reported last, of all jobs. */
  @Override
  public List<StepStatus> steps(Lease lease) {
    called("steps");
    Map<String, StepStatus> steps = new LinkedHashMap<>();
    reported.stream()
        .flatMap(List::stream)
        .filter(report -> report.lease().job().equals(lease.job()))
        .forEach(
            report -> {
              if (report instanceof Report.Step step) {
                StepStatus before = steps.get(step.stepId());
                steps.put(
                    step.stepId(),
                    new StepStatus(
                        step.stepId(),
                        step.index(),
                        step.state(),
                        step.attempt(),
                        (before == null ? 0 : before.resets()) + (step.reset() ? 1 : 0),
                        step.checkpoint(),
                        null,
                        Instant.EPOCH,
                        null,
                        null,
                        null));
              }
            });
    return List.copyOf(steps.values());
  }

  @Override
  public Optional<Patch> patch(Lease lease, String step) {
    called("patch");
    return reported.stream()
        .flatMap(List::stream)
        .map(report -> report instanceof Report.Step told ? told : null)
        .filter(
            told ->
                told != null
                    && told.lease().job().equals(lease.job())
                    && told.stepId().equals(step))
        .map(Report.Step::patch)
        .filter(Objects::nonNull)
        .reduce((earlier, later) -> later);
  }

  @Override
  public Ack publish(Publication publication) {
    called("publish");
    published.add(publication);
    return ack(held.contains(publication.lease()));
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    called("artifacts");
    return published.stream()
        .filter(publication -> publication.lease().job().equals(lease.job()))
        .flatMap(
            publication ->
                publication.artifacts().stream()
                    .map(
                        artifact ->
                            new PublishedArtifact(
                                artifact,
                                publication.lease().attempt(),
                                publication.store(),
                                Instant.EPOCH,
                                publication.result())))
        .toList();
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    called("settle");
    beforeSettle.accept(settlements);
    refuseUnstorable(
        settlements.stream().filter(s -> s instanceof Settlement.Succeed).map(Settlement::lease));
    settled.add(List.copyOf(settlements));
    List<Ack> acks = settlements.stream().map(s -> ack(held.remove(s.lease()))).toList();
    boolean forgets = forgetsAnAnswer;
    forgetsAnAnswer = false;
    return forgets ? acks.subList(1, acks.size()) : acks;
  }

  private void refuseUnstorable(Stream<Lease> leases) {
    if (leases.anyMatch(unstorable::contains)) {
      throw new RefusedException(Refusal.RESULT_NOT_JSON, "not storable");
    }
  }

  private static Ack ack(boolean accepted) {
    return accepted ? Ack.ACCEPTED : Ack.LEASE_LOST;
  }

  @Override
  public boolean succeeded(Lease lease) {
    called("succeeded");
    return succeeded.contains(lease);
  }

  @Override
  public List<Lease> heldBy(String worker) {
    called("heldBy");
    return List.copyOf(held);
  }

  @Override
  public long depth(List<String> queues, long most) {
    called("depth");
    return Math.min(depth, most);
  }

  @Override
  public boolean mayHaveHandler(LeasedJob job, Duration timeout) {
    Predicate<LeasedJob> given = mayHaveHandler;
    return given == null ? JobSource.super.mayHaveHandler(job, timeout) : given.test(job);
  }

  @Override
  public Subscription listen(Collection<String> queues, Consumer<String> wake) {
    called("listen");
    this.wake = wake;
    return () -> calls.add("unlisten");
  }
}
