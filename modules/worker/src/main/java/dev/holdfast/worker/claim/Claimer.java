package dev.holdfast.worker.claim;

import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Plural;
import dev.holdfast.worker.attempt.Slots;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Fills free slots with jobs, queue after queue in turn. */
public final class Claimer {
  private static final Logger log = LoggerFactory.getLogger(Claimer.class);
  private static final int BATCH = 500;

  /**
   * While there are more jobs than slots, a claim waits for so long, or until slots for half of a
   * batch are free: a claim of many jobs costs hardly more than a claim of one.
   */
  private static final Duration GATHER = Duration.ofMillis(3);

  /**
   * An attempt that has not begun so long after its claim has no thread: handlers that compute hold
   * all of them, and further jobs would wait here instead of running in another worker.
   */
  private static final Duration BEGUN_WITHIN = Duration.ofSeconds(5);

  /**
   * The pause after a claim that found fewer jobs than it asked for. Another claim would compete
   * with these jobs for the database; the end of one of them, or a notification, ends the pause.
   */
  private static final Duration CLAIM_AGAIN = Duration.ofMillis(30);

  private static final Duration CHECK_AGAIN = Duration.ofSeconds(1);
  private static final Duration UNTIL_WOKEN = Duration.ofSeconds(10);
  private static final Duration DUE = Duration.ofMillis(1);
  private static final Duration ALMOST_DUE = Duration.ofMillis(20);
  private static final Duration SOON = Duration.ofSeconds(2);

  /** Within this, a wake-up for a job that was claimed here has arrived. */
  private static final Duration OWN_WAKE_UPS = Duration.ofSeconds(1);

  /**
   * When to check for jobs of a claim whose answer was lost, counted from the loss. The first check
   * may come too soon: the server may still carry out the statement, though its client no longer
   * waits for it.
   */
  private static final List<Duration> LOST_CLAIM_CHECKS =
      List.of(Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofSeconds(30));

  /** Runs the jobs that were claimed. */
  @FunctionalInterface
  public interface Starter {
    /** False when no slot is free for it any more. */
    boolean start(LeasedJob job, long claimedAt);
  }

  private final JobSource source;
  private final int batch;
  private final LongSupplier nanos;
  private final WorkerOptions options;
  private final List<KindVersion> versions;
  private final Slots slots;
  private final Backpressure backpressure;
  private final Metrics metrics;
  private final Starter starter;
  private final AtomicBoolean notified = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicBoolean paused = new AtomicBoolean();
  private long claimedAt;
  private int turn;
  private @Nullable String drainingForSuspectOf;
  private int wakeUpsOfOwnJobs;
  private long ownJobsUntil;
  private boolean starved;
  private boolean claimOutcomeUnknown;
  private long lostAt;
  private int lostClaimChecks = LOST_CLAIM_CHECKS.size();

  /**
   * @param versions which versions of kinds the worker has
   */
  public Claimer(
      JobSource source,
      WorkerOptions options,
      List<KindVersion> versions,
      Slots slots,
      Metrics metrics,
      Starter starter) {
    this(source, options, versions, slots, metrics, starter, System::nanoTime);
  }

  public Claimer(
      JobSource source,
      WorkerOptions options,
      List<KindVersion> versions,
      Slots slots,
      Metrics metrics,
      Starter starter,
      LongSupplier nanos) {
    this.nanos = nanos;
    this.source = source;
    this.batch = Math.min(BATCH, source.mostAtOnce());
    this.options = options;
    this.versions = List.copyOf(versions);
    this.slots = slots;
    this.metrics = metrics;
    this.starter = starter;
    this.backpressure =
        new Backpressure(
            options.backpressure(), source, options.queues(), metrics, System::nanoTime);
  }

  /** A notification has arrived: the next round may find jobs. */
  public void onNotification() {
    notified.set(true);
  }

  /** Claims nothing while it is paused. */
  public void pause(boolean now) {
    paused.set(now);
  }

  /** Claims nothing more; rounds still look for claims whose response was lost. */
  public void close() {
    closed.set(true);
  }

  /** One round over the queues; the answer is how long to wait for the next. */
  public Duration runOnce() {
    checkLostClaim();
    Duration wait = closed.get() || paused.get() ? UNTIL_WOKEN : fill();
    return hasLostClaim() && wait.compareTo(CHECK_AGAIN) > 0 ? CHECK_AGAIN : wait;
  }

  private Duration fill() {
    int free = slots.freeOrWake();
    if (free == 0) {
      return UNTIL_WOKEN;
    }
    if (isStarved()) {
      return options.poll();
    }
    Duration gather = GATHER.minusNanos(nanos.getAsLong() - claimedAt);
    if (free < slots.wakeAt() && gather.isPositive()) {
      return gather;
    }
    Duration pause = backpressure.pause();
    if (pause.isPositive()) {
      return pause;
    }
    Round round = round();
    // After a job there may be another, and only an empty answer says when the next is due.
    return round.claimed() == 0 ? round.next() : round.foundAll() ? CLAIM_AGAIN : Duration.ZERO;
  }

  private boolean isStarved() {
    boolean now = slots.hasUnbegun(System.nanoTime() - BEGUN_WITHIN.toNanos());
    if (now && !starved) {
      log.warn(
          "{} claims no more for now: an attempt has waited {} s for a thread. Handlers that compute"
              + " need Threads.PLATFORM",
          options.worker(),
          BEGUN_WITHIN.toSeconds());
    }
    starved = now;
    return now;
  }

  /**
   * One round without regard to load; the answer is how many jobs it claimed. A job that another
   * worker is just making claimable is due but not yet visible, so the queue is asked again.
   */
  public int claimNow() throws InterruptedException {
    checkLostClaim();
    Round round = round();
    if (round.claimed() == 0) {
      // A job may have become claimable between the two statements of the claim.
      round = round();
    }
    long until = System.nanoTime() + SOON.toNanos();
    while (round.claimed() == 0 && round.isDue() && System.nanoTime() < until) {
      Thread.sleep(DUE);
      round = round();
    }
    return round.claimed();
  }

  /**
   * @param foundAll every queue gave fewer jobs than it was asked for
   */
  private record Round(int claimed, boolean foundAll, Duration next) {
    boolean isDue() {
      return next.compareTo(ALMOST_DUE) <= 0;
    }
  }

  private Round round() {
    boolean wasNotified = notified.getAndSet(false);
    int claimed = 0;
    boolean foundAll = true;
    Duration wait = Loop.jittered(options.poll());
    int queues = drainingForSuspectOf == null ? options.queues().size() : 1;
    for (int i = 0; i < queues && slots.free() > 0 && !closed.get(); i++) {
      String queue = drainingForSuspectOf == null ? nextQueue() : drainingForSuspectOf;
      int most = Math.min(slots.free(), batch);
      Claimed answer = claim(queue, most);
      claimed += answer.jobs().size();
      foundAll &= answer.jobs().size() < most;
      // The worker drains first, for a suspect must run alone; another queue would only add jobs.
      drainingForSuspectOf = answer.whenEmpty() ? queue : null;
      if (drainingForSuspectOf != null) {
        break;
      }
      Duration due = answer.nextDue();
      if (due != null && due.compareTo(wait) < 0) {
        // The next millisecond: the answer was cut to whole ones.
        wait = due.isNegative() ? DUE : due.plus(DUE);
      }
    }
    countLostRaces(wasNotified, claimed);
    return new Round(claimed, foundAll, wait);
  }

  /**
   * A notification whose job another worker has claimed. It says no job, so for each job that was
   * claimed here within the last second, one wake-up that finds nothing is taken for that job's.
   */
  private void countLostRaces(boolean wasNotified, int claimed) {
    long now = nanos.getAsLong();
    if (claimed > 0) {
      wakeUpsOfOwnJobs += claimed;
      ownJobsUntil = now + OWN_WAKE_UPS.toNanos();
    } else if (wasNotified) {
      if (wakeUpsOfOwnJobs > 0 && now - ownJobsUntil < 0) {
        wakeUpsOfOwnJobs--;
      } else {
        wakeUpsOfOwnJobs = 0;
        metrics.count(Metrics.ACQUIRE_FAILS, 1);
      }
    }
  }

  /** The next round starts with the queue after this one, so that none is asked twice in a row. */
  private String nextQueue() {
    String queue = options.queues().get(turn);
    turn = (turn + 1) % options.queues().size();
    return queue;
  }

  private Claimed claim(String queue, int most) {
    // Reset once the answer is here: the claim may commit although its answer is lost.
    claimOutcomeUnknown = true;
    long sentAt = System.nanoTime();
    Claimed answer = source.claim(queue, most, options.worker(), options.timings(), versions);
    metrics.time(Metrics.CLAIM_TIME, Duration.ofNanos(System.nanoTime() - sentAt));
    claimedAt = nanos.getAsLong();
    slots.wakeAt(
        answer.jobs().size() == most ? Math.max(1, Math.min(options.concurrency(), batch) / 2) : 1);
    List<Settlement> unwanted = new ArrayList<>();
    for (LeasedJob job : answer.jobs()) {
      if (!starter.start(job, sentAt)) {
        unwanted.add(new Settlement.Release(job.lease(), false));
      }
    }
    if (!unwanted.isEmpty()) {
      log.info("{} claimed while the worker stopped: released", Plural.of(unwanted.size(), "job"));
      source.settle(unwanted);
    }
    claimOutcomeUnknown = false;
    return answer;
  }

  private void checkLostClaim() {
    long now = nanos.getAsLong();
    if (claimOutcomeUnknown) {
      lostAt = now;
      lostClaimChecks = 0;
      claimOutcomeUnknown = false;
    }
    if (lostClaimChecks < LOST_CLAIM_CHECKS.size()
        && now - lostAt >= LOST_CLAIM_CHECKS.get(lostClaimChecks).toNanos()) {
      releaseUnknown();
      lostClaimChecks++;
    }
  }

  private boolean hasLostClaim() {
    return claimOutcomeUnknown || lostClaimChecks < LOST_CLAIM_CHECKS.size();
  }

  /**
   * The last check, when the worker has stopped. A claim that is carried out later is reaped when
   * its lease expires.
   */
  public void releaseLostClaims() {
    if (hasLostClaim()) {
      releaseUnknown();
    }
  }

  /** Releases jobs that are claimed under this worker's name and that no handler of it has. */
  private void releaseUnknown() {
    // What is claimed meanwhile would be unknown here, but the thread that claims is this one.
    Set<Lease> known = slots.leases();
    List<Settlement> unknown = new ArrayList<>();
    for (Lease lease : source.heldBy(options.worker())) {
      if (!known.contains(lease)) {
        unknown.add(new Settlement.Release(lease, false));
      }
    }
    if (!unknown.isEmpty()) {
      log.info("{} claims whose response was lost are released", unknown.size());
      source.settle(unknown);
    }
  }
}
