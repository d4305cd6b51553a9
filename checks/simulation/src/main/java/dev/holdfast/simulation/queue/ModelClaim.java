package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.JobState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Claims and leases: who gets which job, and for how long. */
final class ModelClaim {
  private final ModelQueue queue;

  /** Queues whose last claim found jobs by rules are asked by rules first. */
  private final Set<String> byRulesLast = new HashSet<>();

  ModelClaim(ModelQueue queue) {
    this.queue = queue;
  }

  Claimed claim(Verb.Claim asked) {
    String name = asked.queue();
    int most = asked.most();
    String worker = asked.worker();
    long now = queue.now();
    if (byRulesLast.contains(name)) {
      Turn turn = byRules(name, most, worker);
      if (!turn.jobs().isEmpty()) {
        return new Claimed(taken(turn.jobs(), asked), null);
      }
    }
    List<ModelJob> picked = plain(name, most, worker);
    boolean whenEmpty = false;
    Duration nextDue = null;
    if (picked.isEmpty()) {
      nextDue = untilNextDue(name, now);
      boolean hadRules = hasRules(name);
      boolean more = queue.promote(name);
      more |= queue.waits().wakeDue(name);
      more |= queue.unblock(name);
      more |= queue.waits().wakeParents(name);
      picked = more ? plain(name, most, worker) : List.of();
      if (picked.isEmpty() && (hadRules || more)) {
        Turn turn = byRules(name, most, worker);
        picked = turn.jobs();
        whenEmpty = turn.whenEmpty();
      }
    }
    return picked.isEmpty()
        ? new Claimed(List.of(), nextDue, whenEmpty)
        : new Claimed(taken(picked, asked), null);
  }

  private List<LeasedJob> taken(List<ModelJob> jobs, Verb.Claim asked) {
    long now = queue.now();
    List<LeasedJob> leased = new ArrayList<>();
    for (ModelJob job : jobs) {
      job.take(asked, now);
      queue.changed(job);
      leased.add(job.leased(now));
    }
    return leased;
  }

  private Stream<ModelJob> due(String name) {
    long now = queue.now();
    return queue.jobs().stream()
        .filter(job -> job.queue.equals(name) && job.isDue(now))
        .sorted(ModelJob.ORDER);
  }

  private Stream<ModelJob> running() {
    return queue.jobs().stream().filter(job -> job.state == JobState.RUNNING);
  }

  private Stream<ModelJob> runningOf(String worker) {
    return running().filter(job -> job.workerName().equals(worker));
  }

  private boolean isReserved(String worker) {
    return runningOf(worker).anyMatch(job -> job.isolated);
  }

  private boolean hasRules(String name) {
    return queue.limitOf(name) != null
        || queue.jobs().stream()
            .anyMatch(
                job ->
                    job.queue.equals(name)
                        && job.state == JobState.PENDING
                        && (job.isolated || job.job.concurrencyKey() != null));
  }

  private List<ModelJob> plain(String name, int most, String worker) {
    return hasRules(name) || isReserved(worker)
        ? List.of()
        : due(name).filter(ModelClaim::isPlain).limit(most).toList();
  }

  private static boolean isPlain(ModelJob job) {
    return !job.isolated && job.job.concurrencyKey() == null;
  }

  private record Turn(List<ModelJob> jobs, boolean whenEmpty) {}

  private Turn byRules(String name, int most, String worker) {
    Turn turn = takeByRules(name, most, worker);
    boolean rules =
        queue.limitOf(name) != null
            || queue.jobs().stream()
                .anyMatch(
                    job ->
                        job.queue.equals(name)
                            && job.state == JobState.PENDING
                            && job.job.concurrencyKey() != null);
    boolean suspect = turn.jobs().size() == 1 && turn.jobs().getFirst().isolated;
    if (!turn.jobs().isEmpty() && (rules || suspect)) {
      byRulesLast.add(name);
    } else {
      byRulesLast.remove(name);
    }
    return turn;
  }

  private Turn takeByRules(String name, int most, String worker) {
    if (isReserved(worker)) {
      return new Turn(List.of(), false);
    }
    Integer limit = queue.limitOf(name);
    long runningHere = running().filter(job -> job.queue.equals(name)).count();
    int free = limit == null ? most : (int) Math.min(most, limit - runningHere);
    List<ModelJob> suspects = due(name).filter(job -> job.isolated && freeOfKey(job) > 0).toList();
    if (!suspects.isEmpty()) {
      if (runningOf(worker).findAny().isEmpty() && free > 0) {
        return new Turn(List.of(suspects.getFirst()), false);
      }
      if (worker.equals(nextForSuspect(name))) {
        return new Turn(List.of(), true);
      }
    }
    return new Turn(withinRules(name, most, Math.max(0, free)), false);
  }

  private List<ModelJob> withinRules(String name, int most, int free) {
    List<ModelJob> picked =
        new ArrayList<>(due(name).filter(ModelClaim::isPlain).limit(Math.min(most, free)).toList());
    Map<String, List<ModelJob>> keyed =
        due(name)
            .filter(job -> !job.isolated && job.job.concurrencyKey() != null)
            .collect(
                Collectors.groupingBy(
                    job -> String.valueOf(job.job.concurrencyKey()),
                    TreeMap::new,
                    Collectors.toList()));
    keyed
        .values()
        .forEach(
            jobs ->
                jobs.stream()
                    .limit(Math.max(0, Math.min(freeOfKey(jobs.getFirst()), free)))
                    .forEach(picked::add));
    return picked.stream().sorted(ModelJob.ORDER).limit(free).toList();
  }

  private long freeOfKey(ModelJob job) {
    String key = job.job.concurrencyKey();
    return key == null
        ? Long.MAX_VALUE
        : job.job.concurrencyLimit()
            - running()
                .filter(
                    each -> each.queue.equals(job.queue) && key.equals(each.job.concurrencyKey()))
                .count();
  }

  /** While a suspect waits, the busy worker with the fewest jobs takes no more. */
  private @Nullable String nextForSuspect(String name) {
    return running()
        .filter(job -> job.queue.equals(name) && !job.isolated)
        .collect(Collectors.groupingBy(ModelJob::workerName, TreeMap::new, Collectors.counting()))
        .entrySet()
        .stream()
        .min(
            Comparator.comparingLong((Map.Entry<String, Long> each) -> each.getValue())
                .thenComparing(Map.Entry::getKey))
        .map(Map.Entry::getKey)
        .orElse(null);
  }

  private @Nullable Duration untilNextDue(String name, long now) {
    return queue.jobs().stream()
        .filter(job -> job.queue.equals(name))
        .map(job -> dueAt(job, now))
        .filter(at -> at > now)
        .map(at -> Duration.ofNanos((at - now) * 1_000))
        .min(Comparator.naturalOrder())
        .orElse(null);
  }

  private static long dueAt(ModelJob job, long now) {
    ModelJob.OpenWait wait = job.wait;
    return switch (job.state) {
      case PENDING, RETRYING -> job.runAt;
      case WAITING -> wait == null || wait.wakeAt() == null ? now : wait.wakeAt();
      case RUNNING, SUCCEEDED, FAILED, CANCELLED -> now;
    };
  }

  // ---- leases

  List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    long now = queue.now();
    List<HeartbeatResult> results = new ArrayList<>();
    for (Lease each : leases) {
      ModelJob job = queue.heldBy(each);
      if (job == null) {
        results.add(new HeartbeatResult(each, Ack.LEASE_LOST, null));
      } else {
        // Also one that has run out, if nobody took it meanwhile.
        job.heartbeatAt = now;
        job.leaseExpiresAt = now + ModelJob.micros(lease);
        results.add(new HeartbeatResult(each, Ack.ACCEPTED, job.cancelReason));
      }
    }
    return results;
  }

  /** Those of a worker's jobs that were asked to stop. */
  List<HeartbeatResult> commands(String worker) {
    return runningOf(worker)
        .filter(job -> job.cancelRequestedAt != null)
        .map(job -> new HeartbeatResult(job.lease(), Ack.ACCEPTED, job.cancelReason))
        .toList();
  }

  List<Lease> heldBy(String worker) {
    return runningOf(worker).map(ModelJob::lease).toList();
  }
}
