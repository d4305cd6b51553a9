package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.job.WhenDependencyFails;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.WaitSort;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The jobs of the model, and what clients and operators ask of them. */
public final class ModelQueue implements Interpreter {
  private static final Set<String> BY_WAIT = Set.of(Failure.CHILD_FAILED, Failure.NOT_DECIDED);

  private final Map<JobId, ModelJob> jobs = new TreeMap<>();
  private final List<ModelJob> uncommitted = new ArrayList<>();
  private final Map<String, Integer> limits = new HashMap<>();
  private final Codec codec;
  private final LongSupplier micros;
  private final ModelClaim claim = new ModelClaim(this);
  private final ModelSettle settle = new ModelSettle(this);
  private final ModelReports reports = new ModelReports(this);
  private final ModelRecovery recovery = new ModelRecovery(this);
  private final ModelWaits waits = new ModelWaits(this);

  /**
   * @param micros the clock of the database
   */
  public ModelQueue(Codec codec, LongSupplier micros) {
    this.codec = codec;
    this.micros = micros;
  }

  @Override
  public Object answer(Verb<?> verb) {
    return switch (verb) {
      case Verb.Enqueue(JobSpec job) -> enqueue(job.job(ModelJob.moment(now())));
      case Verb.Begin(JobSpec job) -> begin(job.job(ModelJob.moment(now())));
      case Verb.Commit() -> commit();
      case Verb.Claim asked -> claim.claim(asked);
      case Verb.Heartbeat(List<Lease> leases, Duration lease) -> claim.heartbeat(leases, lease);
      case Verb.Commands(String worker) -> claim.commands(worker);
      case Verb.WriteReports(List<Report> told) -> reports.all(told);
      case Verb.Steps(Lease lease) -> reports.steps(lease);
      case Verb.Publish(Publication publication) -> reports.publish(publication);
      case Verb.Artifacts(Lease lease) -> reports.artifacts(lease);
      case Verb.Settle(List<Settlement> settlements) -> settle.all(settlements);
      case Verb.Succeeded(Lease lease) -> settle.succeeded(lease);
      case Verb.HeldBy(String worker) -> claim.heldBy(worker);
      case Verb.Promote() -> recovery.promote();
      case Verb.ReapAndExpire(Duration grace) -> recovery.reapAndExpire(grace);
      case Verb.Recover(String workerPrefix) -> recovery.recover(workerPrefix);
      case Verb.Cancel(JobId job, String reason) -> cancel(job, reason);
      case Verb.Retry(JobId job) -> retry(job);
      case Verb.Limit(String queue, int maxRunning) -> limit(queue, maxRunning);
      case Verb.Suspend(Suspension suspension) -> waits.suspend(suspension);
      case Verb.Signal(JobId job, SignalToJob signal) -> waits.signal(job, signal);
      case Verb.Decide decided -> waits.decide(decided);
      case Verb.Start started -> waits.start(started);
      case Verb.Ends(Lease lease, List<JobId> children) -> waits.ends(lease, children);
      case Verb.Restarted() -> recovery.serverStarted();
    };
  }

  long now() {
    return micros.getAsLong();
  }

  Collection<ModelJob> jobs() {
    return jobs.values();
  }

  @Nullable Integer limitOf(String queue) {
    return limits.get(queue);
  }

  ModelSettle settle() {
    return settle;
  }

  ModelReports reports() {
    return reports;
  }

  @Nullable ModelJob find(JobId id) {
    return jobs.get(id);
  }

  /** The job, if this attempt holds it. */
  @Nullable ModelJob heldBy(Lease lease) {
    ModelJob job = jobs.get(lease.job());
    return job != null && job.isHeldBy(lease) ? job : null;
  }

  private Verb.Done limit(String queue, int maxRunning) {
    limits.put(queue, maxRunning);
    return Verb.Done.DONE;
  }

  /** Of an id that is there, nothing is added. */
  private Enqueued enqueue(Job job) {
    if (jobs.containsKey(job.id())) {
      return new Enqueued(job.id(), false);
    }
    Unique unique = job.unique();
    if (unique != null) {
      ModelJob holder = holderOf(job, unique.key());
      if (holder != null) {
        return new Enqueued(holder.id, true);
      }
    }
    jobs.put(job.id(), new ModelJob(job, codec.encode(job.payload()), now()));
    return new Enqueued(job.id(), false);
  }

  /** What others do not see before it is committed. */
  private Verb.Done begin(Job job) {
    uncommitted.add(new ModelJob(job, codec.encode(job.payload()), now()));
    return Verb.Done.DONE;
  }

  private Verb.Done commit() {
    uncommitted.forEach(job -> jobs.put(job.id, job));
    uncommitted.clear();
    return Verb.Done.DONE;
  }

  private @Nullable ModelJob holderOf(Job wanted, String key) {
    for (ModelJob each : jobs.values()) {
      Unique unique = each.job.unique();
      if (unique != null
          && unique.key().equals(key)
          && each.job.kind().equals(wanted.kind())
          && !each.gaveUpKey) {
        if (unique.states().contains(each.state)) {
          return each;
        }
      }
    }
    return null;
  }

  /** A job never takes its key back: called after every change of its state. */
  void changed(ModelJob job) {
    Unique unique = job.job.unique();
    if (unique != null && !unique.states().contains(job.state)) {
      job.gaveUpKey = true;
    }
    if (job.state != JobState.WAITING) {
      job.wait = null;
    }
  }

  ModelWaits waits() {
    return waits;
  }

  /** With all that it has from its parent. */
  void addChild(Job job, ModelJob parent, String startedAs) {
    ModelJob child = new ModelJob(job, codec.encode(job.payload()), now());
    child.parent = parent.id;
    child.startedAs = startedAs;
    jobs.put(child.id, child);
  }

  /**
   * Another job in the place of one that has just succeeded: with all that it has but its payload,
   * and with the signals that no wait has taken.
   */
  void addSuccessor(ModelJob job, JobId id, Json payload) {
    ModelJob successor =
        new ModelJob(job.job.id(id).run(job.job.run(), job.job.runKey()), payload, now());
    successor.state = JobState.PENDING;
    successor.runAt = job.runAt;
    successor.deadline = job.deadline;
    successor.parent = job.parent;
    for (ModelJob.Mail mail : List.copyOf(job.mailbox)) {
      if (mail.takenBy == null) {
        job.mailbox.remove(mail);
        successor.event("signal");
        successor.mailbox.add(new ModelJob.Mail(successor.events.size(), mail.signal));
      }
    }
    successor.gaveUpKey = job.gaveUpKey;
    job.gaveUpKey = true;
    jobs.put(id, successor);
  }

  List<Cancellation> cancel(JobId id, String reason) {
    ModelJob job = jobs.get(id);
    if (job == null) {
      return List.of();
    }
    JobState was = job.state;
    long now = now();
    Cancellation.Outcome outcome;
    if (was.isTerminal()) {
      outcome = Cancellation.Outcome.ALREADY_TERMINAL;
    } else if (job.cancelRequestedAt != null) {
      outcome = Cancellation.Outcome.ALREADY_REQUESTED;
    } else {
      job.cancelRequestedAt = now;
      job.cancelDeadline = now + job.cancelGrace;
      job.cancelReason = reason;
      if (was == JobState.RUNNING) {
        outcome = Cancellation.Outcome.REQUESTED;
        job.event("cancel:requested");
      } else {
        outcome = Cancellation.Outcome.CANCELLED;
        job.state = JobState.CANCELLED;
        job.finishedAt = now;
        job.event("cancelled");
        changed(job);
      }
    }
    return List.of(new Cancellation(id, was, outcome));
  }

  /** The jobs that were requeued. */
  private Set<JobId> retry(JobId id) {
    ModelJob job = jobs.get(id);
    if (job == null || !JobState.RETRYABLE.contains(job.state)) {
      return Set.of();
    }
    long now = now();
    job.state = JobState.PENDING;
    job.failures = 0;
    job.crashes = 0;
    job.isolated = false;
    job.runAt = now;
    job.finishedAt = null;
    job.progress = null;
    job.cancelRequestedAt = null;
    job.cancelDeadline = null;
    job.cancelReason = null;
    job.deadline = job.deadline != null && job.deadline > now ? job.deadline : null;
    job.event("retried");
    job.steps.replaceAll(
        (step, row) ->
            new ModelJob.StepRow(
                row.index(),
                row.state(),
                row.attempt(),
                row.jobAttempt(),
                0,
                row.checkpoint(),
                row.ended()));
    if (job.failureCode != null && BY_WAIT.contains(job.failureCode)) {
      askAgain(job);
    }
    return Set.of(id);
  }

  /** A job that failed because of how its last wait ended waits once more. */
  private static void askAgain(ModelJob job) {
    job.steps.entrySet().stream()
        .filter(each -> each.getValue().state().equals("DONE") && isBad(each.getValue().ended()))
        .max(Comparator.comparing(each -> job.overAt.get(each.getKey())))
        .ifPresent(each -> each.setValue(each.getValue().toBeAskedAgain()));
  }

  private static boolean isBad(@Nullable WaitEnd ended) {
    return ended != null
        && (ended.outcome() == WaitEnd.Outcome.FAILED
            || (ended.sort() == WaitSort.APPROVAL && ended.outcome() == WaitEnd.Outcome.TIMEOUT));
  }

  /** Whether anything is left that will happen by itself. */
  public boolean isQuiet() {
    return jobs.values().stream().allMatch(job -> job.state.isTerminal());
  }

  /** Due retries become PENDING. */
  boolean promote(@Nullable String queue) {
    boolean any = false;
    for (ModelJob job : jobs.values()) {
      if (job.state == JobState.RETRYING
          && job.runAt <= now()
          && (queue == null || job.queue.equals(queue))) {
        job.state = JobState.PENDING;
        any = true;
      }
    }
    return any;
  }

  /** Jobs whose dependencies have ended wait no longer. */
  boolean unblock(@Nullable String queue) {
    boolean any = false;
    boolean again = true;
    while (again) {
      again = false;
      for (ModelJob job : new ArrayList<>(jobs.values())) {
        if (job.state == JobState.WAITING
            && job.wait == null
            && (queue == null || job.queue.equals(queue))) {
          again |= unblock(job);
        }
      }
      any |= again;
    }
    return any;
  }

  private boolean unblock(ModelJob job) {
    WhenDependencyFails policy = job.job.whenDependencyFails();
    List<ModelJob> others = job.job.dependsOn().stream().map(jobs::get).toList();
    boolean ended = others.stream().allMatch(other -> other.state.isTerminal());
    boolean failed =
        others.stream().anyMatch(o -> o.state == JobState.FAILED || o.state == JobState.CANCELLED);
    if (!ended && !(failed && policy != WhenDependencyFails.RUN)) {
      return false;
    }
    if (!failed || policy == WhenDependencyFails.RUN) {
      job.state = JobState.PENDING;
      return true;
    }
    job.state = policy == WhenDependencyFails.FAIL ? JobState.FAILED : JobState.CANCELLED;
    job.failureCode = policy == WhenDependencyFails.FAIL ? "DEPENDENCY_FAILED" : null;
    job.finishedAt = now();
    job.event(job.state == JobState.FAILED ? "failed" : "cancelled");
    changed(job);
    return true;
  }

  /** Every job in one line, to be compared with the rows of the database. */
  public List<String> rows() {
    return jobs.values().stream().map(ModelRow::of).toList();
  }
}
