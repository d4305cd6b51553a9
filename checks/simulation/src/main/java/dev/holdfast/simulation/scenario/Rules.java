package dev.holdfast.simulation.scenario;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.ModelView;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.worker.handler.Approval;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What must hold, whatever breaks. Handlers say when they begin, go on and end; the source says
 * what was settled.
 */
final class Rules {
  /** Printed by handlers, and known to the redaction of the worker. */
  static final String SECRET = "s3cr3t-t0k3n";

  /** From an order to stop until a handler that looks has seen it, on a network without faults. */
  private static final Duration TOLD_WITHIN = Duration.ofSeconds(4);

  private static final Duration LATE = Duration.ofSeconds(6);

  /** An answer that is lost is asked for again. */
  private static final Duration PLACE_GIVEN_UP = Duration.ofSeconds(15);

  /**
   * What a kind of job is allowed.
   *
   * @param strict it is not released while its handler runs; nor do its executions overlap, if it
   *     is obedient
   * @param obedient it ends when told to
   * @param goesBack its handler runs again within an attempt, from a checkpoint
   */
  record Manner(boolean strict, boolean obedient, boolean goesBack) {}

  /** A handler at work. */
  static final class Execution {
    final Lease lease;
    final SimulatedWorker worker;
    final Manner manner;
    final long since;

    Execution(Lease lease, SimulatedWorker worker, Manner manner, long since) {
      this.lease = lease;
      this.worker = worker;
      this.manner = manner;
      this.since = since;
    }

    @Override
    public String toString() {
      return JobSpec.number(lease.job()) + "#" + lease.attempt() + " on " + worker.name();
    }
  }

  private final Scheduler scheduler;
  private final Observer observer;
  private final ModelView model;
  private final Timings timings;
  private final Map<String, SimulatedWorker> workers = new LinkedHashMap<>();
  private final List<Execution> running = new ArrayList<>();
  private final Map<Lease, SimulatedWorker> begun = new HashMap<>();
  private final Map<Lease, String> results = new HashMap<>();
  private final Map<Lease, Integer> finalProgress = new HashMap<>();
  private final Map<Lease, List<Report.Progress>> writtenProgress = new HashMap<>();
  private final Set<Lease> outOfOrder = new HashSet<>();
  private final Map<JobId, Long> sleepsUntil = new HashMap<>();
  private final Map<JobId, Map<String, String>> signals = new HashMap<>();
  private final Map<JobId, Decision> decisions = new HashMap<>();
  private final Map<JobId, List<JobId>> chains = new HashMap<>();
  private Map<JobId, ModelView.Held> before = Map.of();

  Rules(Scheduler scheduler, Observer observer, ModelView model, Timings timings) {
    this.scheduler = scheduler;
    this.observer = observer;
    this.model = model;
    this.timings = timings;
  }

  void add(SimulatedWorker worker) {
    workers.put(worker.name(), worker);
  }

  // ---- handlers

  Execution begins(JobContext context, SimulatedWorker worker, Manner manner) {
    Lease lease = context.lease();
    Execution execution = new Execution(lease, worker, manner, scheduler.now());
    observer.count("handler began");
    SimulatedWorker before = begun.put(lease, worker);
    boolean goesBack =
        manner.goesBack()
            && before == worker
            && running.stream().noneMatch(each -> each.lease.equals(lease));
    if (before != null && !goesBack) {
      observer.violated("attempt %s began twice", execution);
    }
    for (Execution other : running) {
      if (manner.strict()
          && manner.obedient()
          && other.lease.job().equals(lease.job())
          && !other.worker.process().isDead()
          && !other.worker.wasFrozenSince(other.since)) {
        observer.violated("%s and %s of a strict kind overlap", other, execution);
      }
    }
    running.add(execution);
    long beside =
        running.stream().filter(each -> each.worker == worker && each.manner.obedient()).count();
    // One that did not leave in time has lost its slot, and is known to the worker as overdue.
    if (beside - worker.overdue() > worker.concurrency()) {
      observer.violated(
          "%d handlers run on %s, which has %d slots", beside, worker.name(), worker.concurrency());
    }
    return execution;
  }

  void ends(Execution execution) {
    running.remove(execution);
  }

  void died(SimulatedWorker worker) {
    running.removeIf(each -> each.worker == worker);
  }

  void succeeds(Lease lease, String result, int progress) {
    results.put(lease, result);
    finalProgress.put(lease, progress);
  }

  /** Called by a handler that looks whether it should stop, and was not told so. */
  void goesOn(Execution execution) {
    long calm = execution.worker.calmSince();
    Lease lease = execution.lease;
    Long lostAt = model.lostAt(lease);
    if (lostAt != null) {
      long known = Math.max(lostAt, calm);
      Duration limit = timings.heartbeat().plus(LATE);
      if (scheduler.now() - known > limit.toNanos()) {
        observer.violated(
            "%s goes on %.1f s after it lost its lease",
            execution, (scheduler.now() - known) / 1e9);
      }
    }
    Long cancelledAt = model.cancelRequestedAt(lease);
    if (cancelledAt != null
        && scheduler.now() - Math.max(cancelledAt, calm) > TOLD_WITHIN.toNanos()) {
      observer.violated(
          "%s was not told for %.1f s that it is cancelled",
          execution, (scheduler.now() - Math.max(cancelledAt, calm)) / 1e9);
    }
  }

  // ---- waits

  /** The first time counts: a worker may die before the wait is written. */
  void asksToSleep(JobId job, Duration time) {
    sleepsUntil.putIfAbsent(job, scheduler.now() + time.toNanos());
  }

  void hasSlept(JobId job) {
    long early = sleepsUntil.getOrDefault(job, 0L) - scheduler.now();
    if (early > 0) {
      observer.violated(
          "job %d was woken %.1f s before its time", JobSpec.number(job), early / 1e9);
    }
    observer.count("slept");
  }

  /** What a wait brought it brings in each attempt, and no other wait of the job has it. */
  void hasTaken(JobId job, String wait, String signal) {
    Map<String, String> taken = signals.computeIfAbsent(job, each -> new HashMap<>());
    String before = taken.putIfAbsent(wait, signal);
    if (before != null && !before.equals(signal)) {
      observer.violated(
          "wait '%s' of job %d brought '%s' and then '%s'",
          wait, JobSpec.number(job), before, signal);
    }
    if (signal.equals("nothing")) {
      observer.count("waited in vain");
      return;
    }
    observer.count("signal taken");
    if (taken.entrySet().stream()
        .anyMatch(each -> !each.getKey().equals(wait) && each.getValue().equals(signal))) {
      observer.violated("job %d took signal '%s' twice", JobSpec.number(job), signal);
    }
  }

  void hasJoined(JobId parent, int started, List<ChildEnd> ends) {
    observer.count("joined");
    int found = model.startedBy(parent);
    if (found != started || ends.size() != started) {
      observer.violated(
          "job %d has started %d jobs and got %d ends, of %d",
          JobSpec.number(parent), found, ends.size(), started);
    }
    String early = model.unfinishedOf(parent);
    if (early != null) {
      observer.violated("job %d was woken before the end of %s", JobSpec.number(parent), early);
    }
  }

  /** By somebody who may, and once. */
  void decided(Verb.Decide decided, Decision.Answer answer) {
    if (answer == Decision.Answer.NOT_ALLOWED) {
      observer.count("not allowed to decide");
    }
    if (answer == Decision.Answer.ACCEPTED) {
      Decision before = decisions.put(decided.job(), decided.decision());
      if (before != null) {
        observer.violated(
            "job %d was decided twice: %s and %s",
            JobSpec.number(decided.job()), before, decided.decision());
      }
      if (decided.role() != Role.ADMIN) {
        observer.violated("%s has decided and may not: %s", decided.role(), decided.decision());
      }
    }
  }

  /** The handler gets what was decided, or what is to happen when nobody has. */
  void hasDecided(JobId job, Approval approval, Question.Unanswered then) {
    Decision decision = decisions.get(job);
    observer.count(decision == null ? "nobody decided" : "decided");
    boolean approved = decision == null ? then == Question.Unanswered.APPROVE : decision.approved();
    String by = decision == null ? null : decision.by();
    if (approval.approved() != approved || !Objects.equals(approval.by(), by)) {
      observer.violated(
          "job %d got %s, and what was decided is %s, or else %s",
          JobSpec.number(job), approval, decision, then);
    }
    if (decision == null && then == Question.Unanswered.FAIL) {
      observer.violated("job %d goes on, and nobody has decided", JobSpec.number(job));
    }
  }

  void hasFirst(JobId parent, ChildEnd first) {
    observer.count("first has ended");
    if (model.openOf(parent) > 0) {
      observer.count("went on before the others ended");
    }
    String before = model.endedBefore(parent, first.job());
    if (!first.state().isTerminal() || before != null) {
      observer.violated(
          "job %d was given %s as the first end, before it was %s",
          JobSpec.number(parent), first, before);
    }
  }

  /** Of a chain of jobs each turn is one job, and follows the one before. */
  void turns(LeasedJob job, int turn) {
    List<JobId> chain = chains.computeIfAbsent(job.run(), run -> new ArrayList<>());
    if (turn == chain.size()) {
      chain.add(job.lease().job());
      if (turn > 0) {
        observer.count("went on as another job");
      }
    } else if (turn > chain.size() || !chain.get(turn).equals(job.lease().job())) {
      observer.violated("turn %d of %s is run by %s", turn, chain, job.lease());
    }
  }

  /** A job that waits has no place in the worker that has suspended it. */
  void checkPlaces(String name) {
    SimulatedWorker worker = workers.get(name);
    if (worker == null) {
      return;
    }
    for (JobId job : worker.places()) {
      Long since = model.waitsSince(job);
      if (since != null
          && scheduler.now() - Math.max(since, worker.calmSince()) > PLACE_GIVEN_UP.toNanos()) {
        observer.violated(
            "%s keeps a place for job %d, which has waited for %.1f s",
            name, JobSpec.number(job), (scheduler.now() - since) / 1e9);
      }
    }
  }

  // ---- settlements

  void checkSecrets(List<?> written) {
    for (Object each : written) {
      if (each.toString().contains(SECRET)) {
        observer.violated("a secret is written: %s", each);
      }
    }
  }

  /**
   * Called each time that reports reach the queue. One whose answer was lost is sent again, and its
   * first copy may come after newer ones: the progress then goes back to it.
   */
  @SuppressWarnings("ReferenceEquality") // Two reports may say the same.
  void writes(List<Report> reports) {
    for (Report report : reports) {
      if (report instanceof Report.Progress progress) {
        List<Report.Progress> written =
            writtenProgress.computeIfAbsent(report.lease(), each -> new ArrayList<>());
        if (written.stream().noneMatch(each -> each == progress)) {
          written.add(progress);
        }
        if (written.getLast() == progress) {
          outOfOrder.remove(report.lease());
        } else {
          outOfOrder.add(report.lease());
        }
      }
    }
  }

  /** The file of an attempt is put in its place only if the queue has accepted it. */
  void placed(Lease lease) {
    if (model.publishedBy(lease.job(), "out") < lease.attempt()) {
      observer.violated("the artifact of %s is placed, and was never accepted", lease);
    }
  }

  void settled(List<Settlement> settlements, List<Ack> acks) {
    for (int i = 0; i < acks.size(); i++) {
      Lease lease = settlements.get(i).lease();
      if (acks.get(i) == Ack.LEASE_LOST) {
        observer.count("stale settle refused");
      } else if (settlements.get(i) instanceof Settlement.Release) {
        running.stream()
            .filter(each -> each.lease.equals(lease) && each.manner.strict())
            .filter(each -> !each.worker.process().isDead())
            .forEach(each -> observer.violated("%s is released while its handler runs", each));
      } else if (settlements.get(i) instanceof Settlement.Succeed succeed) {
        String result = succeed.result() == null ? "null" : succeed.result().text();
        if (results.containsKey(lease) && !result.equals(results.get(lease))) {
          observer.violated(
              "%s settled %s, but its handler returned %s", lease, result, results.get(lease));
        }
        Integer last = finalProgress.get(lease);
        Integer stored = model.progress(lease);
        if (last != null && last > 0 && !last.equals(stored) && !outOfOrder.contains(lease)) {
          observer.violated(
              "%s was settled at progress %s, but reported %s before", lease, stored, last);
        }
      }
    }
  }

  // ---- the sweep

  void beforeReaping() {
    before = model.held();
  }

  /** A worker that could reach the database for as long as its reaper could must keep its jobs. */
  void reaped(String reaper) {
    Map<JobId, ModelView.Held> now = model.held();
    SimulatedWorker reaping = workers.get(reaper);
    before.forEach(
        (job, held) -> {
          ModelView.Held still = now.get(job);
          boolean lost = still == null || still.attempt() != held.attempt();
          SimulatedWorker holder = workers.get(held.worker());
          if (lost && !held.isOutOfTime() && holder != null) {
            observer.count("lease reaped");
            long since = held.extendedAt();
            if (holder.isAlive()
                && !holder.wasDisturbedAloneSince(since)
                && reaping != null
                && reaping.startedAt() < since
                && !reaping.wasDisturbedAloneSince(since)
                && scheduler.now() - since > timings.lease().toNanos()) {
              observer.violated(
                  "%s took job %d#%d from %s, which is alive and was cut off no longer than itself",
                  reaper, JobSpec.number(job), held.attempt(), held.worker());
            }
          }
        });
  }

  // ---- the end

  void stoppedCleanly(SimulatedWorker worker, boolean undisturbed) {
    if (undisturbed) {
      model
          .held()
          .forEach(
              (job, held) -> {
                if (held.worker().equals(worker.name())
                    && running.stream().noneMatch(each -> each.lease.job().equals(job))) {
                  observer.violated(
                      "%s has stopped and still holds job %d#%d",
                      worker.name(), JobSpec.number(job), held.attempt());
                }
              });
    }
  }

  void ended() {
    for (String row : model.unfinished()) {
      observer.violated("not ended: %s", row);
    }
    for (String row : model.chargedForWaits()) {
      observer.violated("a wait was counted as a failure: %s", row);
    }
    for (String row : model.wrongEnds(results)) {
      observer.violated("ended untruthfully: %s", row);
    }
  }
}
