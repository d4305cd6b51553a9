package dev.holdfast.server.worker;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.auth.Tenants;
import dev.holdfast.server.http.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All that workers do over HTTP with attempts they hold: one set of operations under both worker
 * protocols, {@code /v1/tasks} and {@code /v1/leases}.
 *
 * <p>Each operation checks here who asks. For others than the holder the lease is lost, as if it
 * had never been. Whether the attempt still holds its job the queue decides, in the statement that
 * writes. What is written is scrubbed of what looks like a secret.
 */
public final class FencedOperations {
  private final JobQueue queue;
  private final Queries queries;
  private final HeartbeatBatcher heartbeats;
  private final RemoteAttempts attempts;
  private final ResumedSteps resumed;
  private final Tenants tenants;

  public FencedOperations(
      JobQueue queue, Queries queries, HeartbeatBatcher heartbeats, RemoteAttempts attempts) {
    this.queue = queue;
    this.queries = queries;
    this.heartbeats = heartbeats;
    this.attempts = attempts;
    this.resumed = new ResumedSteps(queries::continuesSteps);
    this.tenants = new Tenants(queries);
  }

  /** Something for an attempt, and who sends it. */
  record Held<T>(LeaseHolder holder, Lease lease, T content) {}

  // ---- leases

  /** Extends a lease for the first time; waits while another transaction holds the job's row. */
  HeartbeatResult start(LeaseHolder.Token holder, String worker) throws InterruptedException {
    return heartbeats.start(holder.scope().lease(), worker);
  }

  /**
   * Extends one lease, together with others that come at the same moment.
   *
   * @param progress null if the heartbeat has none
   */
  HeartbeatResult extend(LeaseHolder.Token holder, Report.@Nullable Progress progress) {
    return counted(
        heartbeats.beat(
            new HeartbeatBatcher.Beat(
                holder.scope().lease(),
                progress == null ? null : (Report.Progress) Scrubbed.report(progress),
                null)));
  }

  private HeartbeatResult counted(HeartbeatResult result) {
    if (result.ack() == Ack.ACCEPTED) {
      attempts.beat();
    }
    return result;
  }

  /**
   * Extends leases of several workers under one key.
   *
   * @param workers the name of the worker that holds each lease
   */
  List<HeartbeatResult> extend(Caller caller, Map<Lease, String> workers, Duration lease) {
    List<Held<Lease>> all =
        workers.entrySet().stream()
            .map(
                each ->
                    new Held<>(
                        new LeaseHolder.Worker(caller, each.getValue()),
                        each.getKey(),
                        each.getKey()))
            .toList();
    Predicate<Held<?>> isTheirs = holders(all, queue::workerNames);
    List<Lease> theirs = all.stream().filter(isTheirs).map(Held::lease).toList();
    List<HeartbeatResult> results =
        new ArrayList<>(queue.heartbeat(theirs, lease).stream().map(this::counted).toList());
    all.stream()
        .filter(isTheirs.negate())
        .forEach(each -> results.add(new HeartbeatResult(each.lease(), Ack.LEASE_LOST, null)));
    return results;
  }

  /** The attempts of a worker that have a command or a request to cancel. */
  List<HeartbeatResult> commands(LeaseHolder.Worker holder) {
    return visible(holder.caller(), queue.commands(holder.name()), each -> each.lease().job());
  }

  /** The leases that were claimed under the worker's name. */
  List<Lease> heldBy(LeaseHolder.Worker holder) {
    return visible(holder.caller(), queue.heldBy(holder.name()), Lease::job);
  }

  private <T> List<T> visible(Caller caller, List<T> all, Function<T, JobId> job) {
    Set<JobId> seen = tenants.seenBy(caller, all.stream().map(job).toList());
    return all.stream().filter(each -> seen.contains(job.apply(each))).toList();
  }

  // ---- what an attempt leaves while it runs

  /** Progress, events, pieces of the log and steps. One answer each, in their order. */
  List<Ack> report(List<Held<Report>> reports) {
    return ofHolders(
        reports,
        theirs -> {
          List<Report> told = resumed.told(theirs.stream().map(Scrubbed::report).toList());
          List<Ack> acks = queue.report(told);
          resumed.stored(told, acks);
          return acks;
        });
  }

  /**
   * What is written after it belongs to this version, if the job has none yet. A pushed task can
   * have none: it would be for workers alone that name their versions with a lease request.
   */
  void keepVersion(LeaseHolder holder, Lease lease, @Nullable Integer version) {
    if (version != null) {
      if (queries.workerNames(List.of(lease)).getOrDefault(lease, "").startsWith(Dispatch.WORKER)) {
        throw new Problem(
            422,
            "invalid_value",
            "field 'version' is not for tasks that are pushed: leave it out, or lease the tasks of a kind that has versions");
      }
      var unused = report(List.of(new Held<>(holder, lease, new Report.Version(lease, version))));
    }
  }

  Ack log(Held<LogLines> lines) {
    return ofHolder(lines, queue::log);
  }

  Ack publish(Held<Publication> publication) {
    return ofHolder(publication, queue::publish);
  }

  // ---- what attempts before it left

  List<StepStatus> steps(LeaseHolder holder, Lease lease) {
    return holds(holder, lease) ? queries.steps(lease.job()) : List.of();
  }

  Optional<Patch> patch(LeaseHolder holder, Lease lease, String step) {
    return holds(holder, lease) ? queries.patch(lease.job(), step) : Optional.empty();
  }

  List<PublishedArtifact> artifacts(LeaseHolder holder, Lease lease) {
    return holds(holder, lease) ? queries.artifacts(lease.job()) : List.of();
  }

  // ---- waits, and jobs that an attempt starts

  WaitAnswer suspend(Held<Suspension> suspension) {
    if (!holds(suspension.holder(), suspension.lease())) {
      return WaitAnswer.LEASE_LOST;
    }
    WaitAnswer answer = queue.suspend(Scrubbed.suspension(suspension.content()));
    if (answer instanceof WaitAnswer.Suspended) {
      attempts.suspended(suspension.lease());
    }
    return answer;
  }

  Ack startChildren(Held<Children> children) {
    return ofHolder(children, queue::startChildren);
  }

  List<ChildEnd> children(LeaseHolder holder, Lease lease, List<JobId> jobs) {
    return holds(holder, lease) ? queries.children(lease.job(), jobs) : List.of();
  }

  // ---- the end of an attempt

  /** Ends attempts, or releases them to their queues. One answer each, in their order. */
  List<Ack> settle(List<Held<Settlement>> settlements) {
    List<Ack> acks =
        ofHolders(
            settlements,
            theirs -> queue.settle(theirs.stream().map(Scrubbed::settlement).toList()));
    List<Settlement> accepted = new ArrayList<>();
    for (int i = 0; i < acks.size(); i++) {
      if (acks.get(i) == Ack.ACCEPTED) {
        accepted.add(settlements.get(i).content());
      }
    }
    count(accepted);
    return acks;
  }

  private void count(List<Settlement> accepted) {
    Set<JobId> again = goingOn(accepted);
    attempts.ended(
        accepted.stream()
            .map(each -> new RemoteAttempts.End(each, again.contains(each.lease().job())))
            .toList());
  }

  /** Jobs that are retried after these ends of attempts, where that can be read. */
  private Set<JobId> goingOn(List<Settlement> accepted) {
    List<JobId> failed =
        accepted.stream()
            .filter(each -> each instanceof Settlement.Fail fail && fail.failure().retryable())
            .map(each -> each.lease().job())
            .toList();
    if (failed.isEmpty()) {
      return Set.of();
    }
    return RemoteAttempts.counting(
        () ->
            queries.states(failed).stream()
                .filter(job -> !job.state().isTerminal())
                .map(JobStateSnapshot::job)
                .collect(Collectors.toSet()),
        Set.of());
  }

  /** The state of a job after one of its attempts was released; a later one may run by now. */
  JobState stateAfter(Lease lease) {
    return queries.states(List.of(lease.job())).stream()
        .filter(snapshot -> snapshot.attempt() == lease.attempt())
        .map(JobStateSnapshot::state)
        .findFirst()
        .orElse(JobState.PENDING);
  }

  /**
   * The end of an attempt.
   *
   * @param finalState the state of the job; null where it was not stored with the attempt
   */
  record Ended(Ack ack, @Nullable JobState finalState) {}

  /** Ends attempts as their workers report it. One answer each, in their order. */
  List<Ended> end(List<Held<Completion>> completions) {
    Iterator<Ack> settled =
        settle(
                completions.stream()
                    .filter(each -> !isStored(each))
                    .map(
                        each ->
                            new Held<>(each.holder(), each.lease(), each.content().settlement()))
                    .toList())
            .iterator();
    return completions.stream()
        .map(each -> isStored(each) ? complete(each) : new Ended(settled.next(), null))
        .toList();
  }

  /**
   * Whether a completion is stored with its attempt, in a transaction of its own: if it has
   * metrics, or its worker compares the answers to a completion that it sends twice. An attempt
   * that was given back has another after it: it is not complete, and sent again gives the same
   * result.
   */
  private static boolean isStored(Held<Completion> completion) {
    boolean isGivenBack =
        switch (completion.content().settlement()) {
          case Settlement.Snooze snooze -> true;
          case Settlement.Release release -> true;
          case Settlement.Succeed succeed -> false;
          case Settlement.Continue next -> false;
          case Settlement.Fail fail -> false;
          case Settlement.Cancel cancel -> false;
        };
    return !isGivenBack
        && switch (completion.holder()) {
          case LeaseHolder.Token token -> true;
          case LeaseHolder.Worker worker -> completion.content().metrics() != null;
        };
  }

  /** Once: the same completion sent again is accepted again, another is not. */
  private Ended complete(Held<Completion> completion) {
    if (!holds(completion.holder(), completion.lease())) {
      return new Ended(Ack.LEASE_LOST, null);
    }
    return switch (queue.complete(Scrubbed.completion(completion.content()))) {
      case Completion.Verdict.Accepted(var finalState) -> {
        attempts.ended(
            List.of(
                new RemoteAttempts.End(
                    completion.content().settlement(), !finalState.isTerminal())));
        yield new Ended(Ack.ACCEPTED, finalState);
      }
      case Completion.Verdict.Different different -> new Ended(Ack.LEASE_LOST, null);
      case Completion.Verdict.Late late -> new Ended(Ack.LEASE_LOST, null);
    };
  }

  /** Whether the attempt has succeeded, for a worker that did not get the answer. */
  boolean succeeded(LeaseHolder holder, Lease lease) {
    return holds(holder, lease) && queue.succeeded(lease);
  }

  // ---- who holds an attempt

  boolean holds(LeaseHolder holder, Lease lease) {
    Held<Lease> held = new Held<>(holder, lease, lease);
    return holders(List.of(held)).test(held);
  }

  private <T> Ack ofHolder(Held<T> one, Function<T, Ack> operation) {
    return holds(one.holder(), one.lease()) ? operation.apply(one.content()) : Ack.LEASE_LOST;
  }

  /** Does those that come from their holders together; the others' leases are lost. */
  private <T> List<Ack> ofHolders(List<Held<T>> all, Function<List<T>, List<Ack>> operation) {
    Predicate<Held<?>> isTheirs = holders(all);
    List<T> theirs = all.stream().filter(isTheirs).map(Held::content).toList();
    Iterator<Ack> acks = (theirs.isEmpty() ? List.<Ack>of() : operation.apply(theirs)).iterator();
    return all.stream().map(each -> isTheirs.test(each) ? acks.next() : Ack.LEASE_LOST).toList();
  }

  /**
   * Which of these come from the holder of their attempt, now or formerly. An attempt never changes
   * hands, so this may be read before the operation and outside its transaction.
   */
  private <T> Predicate<Held<?>> holders(List<Held<T>> all) {
    return holders(all, queries::workerNames);
  }

  private <T> Predicate<Held<?>> holders(
      List<Held<T>> all, Function<List<Lease>, Map<Lease, String>> names) {
    Map<Caller, Set<JobId>> asked = new HashMap<>();
    Set<Lease> leases = new HashSet<>();
    for (Held<T> each : all) {
      if (each.holder() instanceof LeaseHolder.Worker worker) {
        asked.computeIfAbsent(worker.caller(), c -> new HashSet<>()).add(each.lease().job());
        leases.add(each.lease());
      }
    }
    Map<Caller, Set<JobId>> seen = new HashMap<>();
    asked.forEach((caller, jobs) -> seen.put(caller, tenants.seenBy(caller, jobs)));
    Map<Lease, String> workers = names.apply(List.copyOf(leases));
    return held ->
        switch (held.holder()) {
          case LeaseHolder.Token(var scope) -> scope.lease().equals(held.lease());
          case LeaseHolder.Worker(var caller, var name) ->
              seen.getOrDefault(caller, Set.of()).contains(held.lease().job())
                  && name.equals(workers.get(held.lease()));
        };
  }
}
