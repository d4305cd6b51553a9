package dev.holdfast.server.dispatch;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.notify.DatabaseSubscription;
import dev.holdfast.server.background.PeriodicTasks;
import dev.holdfast.server.worker.Envelopes;
import dev.holdfast.server.worker.RemoteAttempts;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Leases tasks of queues that have a dispatch URL; a {@link PushedTask} delivers each of them. */
public final class Pusher implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Pusher.class);
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final int MOST_AT_ONCE = 100;

  /** A queue's URL, and what is known of its worker. Another URL or secret begins anew. */
  private record Target(Dispatch dispatch, CircuitBreaker breaker, WorkerCapacity capacity) {
    static Target of(Dispatch dispatch, @Nullable Target known) {
      return known != null && known.dispatch().equals(dispatch)
          ? known
          : new Target(
              dispatch, new CircuitBreaker(System::nanoTime), new WorkerCapacity(System::nanoTime));
    }
  }

  private final JobStore store;
  private final Predicate<URI> allowed;
  private final Timings timings;
  private final DispatchClient client;
  private final DispatchStatusWriter status;
  private final PushedTask.Services services;
  private final Map<String, Target> targets = new ConcurrentHashMap<>();
  private final Set<URI> warned = ConcurrentHashMap.newKeySet();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final DatabaseSubscription subscription;
  private final Thread thread;
  private boolean woken;
  private volatile boolean closed;
  private volatile boolean pushes;

  /**
   * @param answerWithin how long the answer to a dispatch is waited for
   */
  public Pusher(
      JobStore store,
      DatabaseSubscription subscription,
      RemoteAttempts attempts,
      Envelopes envelopes,
      Predicate<URI> allowed,
      Timings timings,
      Duration answerWithin) {
    this.store = store;
    this.allowed = allowed;
    this.timings = timings;
    this.client = new DispatchClient(answerWithin);
    this.status = new DispatchStatusWriter(store.admin(), System::nanoTime);
    this.services =
        new PushedTask.Services(
            store.jobs(),
            attempts,
            name -> store.queries().confirmed(name, worker(name)),
            envelopes,
            client,
            status,
            answerWithin,
            timings.lease(),
            () -> closed);
    this.subscription = subscription;
    subscription.onWakeUp(name -> taskEnded());
    this.thread = Thread.ofPlatform().daemon().name("holdfast-pusher").start(this::run);
  }

  /** The name that pushed tasks are leased under. */
  static String worker(String queueName) {
    return Dispatch.WORKER + queueName;
  }

  /** There may be tasks to push, or fewer in flight. */
  void wake() {
    lock.lock();
    try {
      woken = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** A task has ended, so that another may be pushed. */
  public void taskEnded() {
    if (pushes) {
      wake();
    }
  }

  private void run() {
    while (!closed) {
      boolean more = false;
      try {
        more = pushAll();
      } catch (RuntimeException e) {
        if (!closed) {
          PeriodicTasks.logFailure(log, "pushing", e);
        }
      }
      if (!more) {
        await();
      }
    }
  }

  /** Pushes what there is; whether there may be more. */
  private boolean pushAll() {
    List<Dispatch> dispatches = store.admin().dispatches();
    pushes = !dispatches.isEmpty();
    boolean more = false;
    for (Dispatch dispatch : dispatches) {
      subscription.add(dispatch.queue());
      more |= fill(dispatch);
    }
    return more;
  }

  private boolean fill(Dispatch dispatch) {
    Target target = targets.compute(dispatch.queue(), (name, known) -> Target.of(dispatch, known));
    if (!allowed.test(dispatch.url())) {
      if (warned.add(dispatch.url())) {
        log.warn(
            "queue {} is not pushed: {} is not in HOLDFAST_DISPATCH_ALLOW",
            dispatch.queue(),
            dispatch.url().getAuthority());
      }
      status.recordError(
          dispatch.queue(),
          DispatchError.Kind.NOT_ALLOWED,
          "HOLDFAST_DISPATCH_ALLOW does not name its host",
          false);
      return false;
    }
    long running = store.queries().running(dispatch.queue(), worker(dispatch.queue()));
    int room = (int) Math.max(0, dispatch.maxInFlight() - running);
    int admitted = target.breaker().admits(Math.min(room, MOST_AT_ONCE));
    int wanted = target.capacity().admits(admitted, running);
    if (wanted == 0) {
      return false;
    }
    List<LeasedJob> jobs =
        store
            .jobs()
            .claim(
                new ClaimRequest(
                        dispatch.queue(), wanted, worker(dispatch.queue()), timings.lease())
                    .cancelGrace(timings.cancelGrace()))
            .jobs();
    services.attempts().claimed(jobs);
    if (!jobs.isEmpty()) {
      target.breaker().begun();
      target.capacity().begun(running + jobs.size());
    }
    for (LeasedJob job : jobs) {
      Thread.ofVirtual().name("holdfast-push").start(() -> push(target, job));
    }
    return jobs.size() == wanted && wanted > 1;
  }

  private void push(Target target, LeasedJob job) {
    new PushedTask(services, target.dispatch(), target.breaker(), target.capacity(), job).run();
    wake();
  }

  private void await() {
    lock.lock();
    try {
      long left = TimeUnit.NANOSECONDS.convert(POLL);
      while (!woken && !closed && left > 0) {
        left = changed.awaitNanos(left);
      }
      woken = false;
    } catch (InterruptedException closing) {
      closed = true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    closed = true;
    wake();
    thread.interrupt();
    client.close();
  }
}
