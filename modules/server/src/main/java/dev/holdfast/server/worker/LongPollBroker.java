package dev.holdfast.server.worker;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.notify.DatabaseSubscription;
import dev.holdfast.server.http.ClientWatch;
import dev.holdfast.server.worker.WaitingLines.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers long polls for tasks in the order they came.
 *
 * <p>A request that comes to an empty line claims for itself. If it finds nothing, it waits; from
 * then on one thread claims for all that wait, when the queue notifies, when the next task is due,
 * and once a second besides. It claims for the first in line, then for the second, until there is
 * nothing left: a new task wakes one worker, not all of them.
 */
public final class LongPollBroker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LongPollBroker.class);

  /**
   * One queue as the workers of a tenant see it that have the same versions of kinds: what is there
   * for one of them is there for all of them.
   */
  record Line(String queue, Tenant tenant, List<KindVersion> versions) {
    Line {
      versions = List.copyOf(versions);
    }

    Line(String queue, Tenant tenant) {
      this(queue, tenant, List.of());
    }
  }

  /** Whether a client may have tasks: its key may be revoked while it waits. */
  interface Admission {
    /** Asked before each claim for it, and so from memory. */
    boolean mayClaim();

    /**
     * Asked before it gets what was claimed, and so of the database. Throws what it is answered.
     */
    void check();
  }

  /** What a worker asks for. */
  record Poll(String worker, int most, Duration lease, Duration cancelGrace, Admission admission) {}

  private final JobQueue queue;
  private final RemoteAttempts attempts;
  private final WaitingLines lines = new WaitingLines();
  private final DatabaseSubscription subscription;
  private final Thread thread;

  public LongPollBroker(
      JobQueue queue, DatabaseSubscription subscription, RemoteAttempts attempts) {
    this.queue = queue;
    this.attempts = attempts;
    this.subscription = subscription;
    subscription.onWakeUp(lines::notified);
    this.thread = Thread.ofPlatform().daemon().name("holdfast-long-polls").start(this::run);
  }

  /**
   * As many jobs as are asked for at most; none when the timeout has passed, the client has gone or
   * may not claim any more, or the broker closes.
   */
  List<LeasedJob> lease(Line line, Poll poll, Duration timeout, ClientWatch client)
      throws InterruptedException {
    if (lines.mayClaim(line)) {
      Claimed found = claim(line, poll);
      if (!found.jobs().isEmpty() || !timeout.isPositive()) {
        return found.jobs();
      }
      lines.foundNothing(line, found);
    } else if (!timeout.isPositive()) {
      return List.of();
    }
    Waiter waiter = new Waiter(poll);
    if (!lines.enter(line, waiter)) {
      return List.of();
    }
    subscription.add(line.queue());
    client.whenGone(() -> lines.abandon(line, waiter));
    List<LeasedJob> jobs = awaited(line, waiter, timeout);
    if (client.isGone()) {
      release(jobs);
      return List.of();
    }
    try {
      poll.admission().check();
    } catch (RuntimeException refused) {
      release(jobs);
      throw refused;
    }
    return jobs;
  }

  private List<LeasedJob> awaited(Line line, Waiter waiter, Duration timeout)
      throws InterruptedException {
    try {
      return waiter.jobs.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException timedOut) {
      return lines.leave(line, waiter);
    } catch (InterruptedException interrupted) {
      release(lines.leave(line, waiter));
      throw interrupted;
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(failed);
    }
  }

  public int waiting() {
    return lines.waiting();
  }

  public boolean isWaitedFor(String name) {
    return lines.isWaitedFor(name);
  }

  /** Whether it is known that notifications do not arrive. */
  public boolean notificationsLost() {
    return subscription.nothingArrives();
  }

  private void run() {
    Line line;
    while ((line = lines.next()) != null) {
      serve(line);
    }
  }

  private void serve(Line line) {
    Waiter first;
    while ((first = lines.first(line)) != null) {
      try {
        if (!first.poll.admission().mayClaim()) {
          lines.remove(line, first);
          first.jobs.complete(List.of());
          continue;
        }
        Claimed found = claim(line, first.poll);
        if (found.jobs().isEmpty()) {
          lines.keep(line, first, found);
          return;
        }
        lines.remove(line, first);
        first.jobs.complete(found.jobs());
      } catch (RuntimeException failed) {
        lines.remove(line, first);
        first.jobs.completeExceptionally(failed);
        if (!(failed instanceof DatabaseException)) {
          log.error("claiming tasks of queue {} failed", line.queue(), failed);
        }
      }
    }
  }

  /** Claims at once, before those that wait. */
  Claimed claim(Line line, Poll poll) {
    Claimed claimed =
        queue.claim(
            new ClaimRequest(line.queue(), poll.most(), poll.worker(), poll.lease())
                .cancelGrace(poll.cancelGrace())
                .tenant(line.tenant())
                .versions(line.versions())
                .remote());
    attempts.claimed(claimed.jobs());
    return claimed;
  }

  /**
   * Releases jobs whose answer could not, or must not, be sent: none of their budgets is touched.
   */
  void release(Collection<LeasedJob> jobs) {
    List<Settlement> releases = new ArrayList<>();
    jobs.forEach(job -> releases.add(new Settlement.Release(job.lease(), false)));
    if (!releases.isEmpty()) {
      queue.settle(releases);
      jobs.stream().map(LeasedJob::queue).distinct().forEach(lines::notified);
    }
  }

  @Override
  public void close() {
    lines.close();
    try {
      thread.join(Duration.ofSeconds(5));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
