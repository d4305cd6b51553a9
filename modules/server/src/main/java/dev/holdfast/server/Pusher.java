package dev.holdfast.server;

import dev.holdfast.contract.TaskEnvelope;
import dev.holdfast.contract.Wire;
import dev.holdfast.model.Dispatch;
import dev.holdfast.model.LeasedJob;
import dev.holdfast.model.Settlement;
import dev.holdfast.queue.Queue;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tasks by push: leases those of queues that have a dispatch URL and posts their envelopes there.
 *
 * <p>An answer of 2xx means that the worker has taken the task; from then on it is held like any
 * other, by heartbeats. Anything else is tried a few times, then the task goes back to its queue
 * for a while, at no cost to its budget. Redirects are not followed: they could lead anywhere.
 */
final class Pusher implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Pusher.class);
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(10);
  private static final int TRIES = 3;
  private static final int MOST_AT_ONCE = 100;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration GIVEN_BACK_FOR = Duration.ofSeconds(5);

  private final Queue queue;
  private final Envelopes envelopes;
  private final Predicate<URI> allowed;
  private final Duration lease;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER)
          .connectTimeout(ANSWER_WITHIN)
          .build();
  private final Map<String, CircuitBreaker> breakers = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Bell bell;
  private final Thread thread;
  private boolean woken;
  private volatile boolean closed;
  private volatile boolean pushes;

  Pusher(Queue queue, Bell bell, Envelopes envelopes, Predicate<URI> allowed, Duration lease) {
    this.queue = queue;
    this.envelopes = envelopes;
    this.allowed = allowed;
    this.lease = lease;
    this.bell = bell;
    bell.tell(name -> taskEnded());
    this.thread = Thread.ofPlatform().daemon().name("holdfast-pusher").start(this::run);
  }

  /** The name that pushed tasks are leased under. */
  static String worker(String queueName) {
    return "push:" + queueName;
  }

  /** There may be work, or room for it. */
  void wake() {
    lock.lock();
    try {
      woken = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** A task has ended: where tasks are pushed, there may be room for another. */
  void taskEnded() {
    if (pushes) {
      wake();
    }
  }

  private void run() {
    while (!closed) {
      boolean more = false;
      try {
        more = look();
      } catch (RuntimeException trouble) {
        if (!closed) {
          Chores.tell(log, "pushing", trouble);
        }
      }
      if (!more) {
        await();
      }
    }
  }

  /** Whether there may be more to push at once. */
  private boolean look() {
    List<Dispatch> dispatches = queue.dispatches();
    pushes = !dispatches.isEmpty();
    boolean more = false;
    for (Dispatch dispatch : dispatches) {
      bell.alsoTo(dispatch.queue());
      more |= fill(dispatch);
    }
    return more;
  }

  private boolean fill(Dispatch dispatch) {
    CircuitBreaker breaker =
        breakers.computeIfAbsent(dispatch.queue(), name -> new CircuitBreaker(System::nanoTime));
    if (!allowed.test(dispatch.url())) {
      log.warn(
          "queue {} is not pushed: {} is not in HOLDFAST_DISPATCH_ALLOW",
          dispatch.queue(),
          dispatch.url().getAuthority());
      return false;
    }
    long running = queue.running(dispatch.queue(), worker(dispatch.queue()));
    int room = (int) Math.max(0, dispatch.maxInFlight() - running);
    int wanted = breaker.admits(Math.min(room, MOST_AT_ONCE));
    if (wanted == 0) {
      return false;
    }
    List<LeasedJob> jobs =
        queue.claim(dispatch.queue(), wanted, worker(dispatch.queue()), lease).jobs();
    if (!jobs.isEmpty()) {
      breaker.begun();
    }
    for (LeasedJob job : jobs) {
      Thread.ofVirtual().name("holdfast-push").start(() -> push(dispatch, breaker, job));
    }
    return jobs.size() == wanted && wanted > 1;
  }

  private void push(Dispatch dispatch, CircuitBreaker breaker, LeasedJob job) {
    TaskEnvelope envelope = envelopes.of(job);
    HttpRequest request =
        HttpRequest.newBuilder(dispatch.url())
            .timeout(ANSWER_WITHIN)
            .header("Content-Type", Answer.JSON)
            .header("Authorization", "Bearer " + dispatch.secret())
            .POST(BodyPublishers.ofByteArray(Wire.write(envelope)))
            .build();
    Duration pause = FIRST_PAUSE;
    String why = "";
    for (int tries = 1; tries <= TRIES && !closed; tries++) {
      try {
        int status = http.send(request, BodyHandlers.discarding()).statusCode();
        if (status >= 200 && status < 300) {
          breaker.succeeded();
          return;
        }
        why = "status " + status;
      } catch (IOException failed) {
        why = String.valueOf(failed.getMessage() == null ? failed : failed.getMessage());
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        break;
      }
      sleep(pause);
      pause = pause.multipliedBy(4);
    }
    breaker.failed();
    log.warn(
        "task {} could not be pushed to {} ({}): it goes back to queue {}",
        job.id(),
        dispatch.url().getAuthority(),
        why,
        dispatch.queue());
    giveBack(job);
    wake();
  }

  private void giveBack(LeasedJob job) {
    try {
      queue.settle(new Settlement.Snooze(job.lease(), jittered(GIVEN_BACK_FOR)));
    } catch (RuntimeException trouble) {
      log.info("the lease of {} will run out: {}", job.lease(), trouble.getMessage());
    }
  }

  private static Duration jittered(Duration time) {
    return Duration.ofMillis(
        time.toMillis() / 2 + ThreadLocalRandom.current().nextLong(time.toMillis()));
  }

  private static void sleep(Duration time) {
    try {
      Thread.sleep(jittered(time));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void await() {
    lock.lock();
    try {
      long left = TimeUnit.NANOSECONDS.convert(LOOK);
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
    http.shutdownNow();
  }
}
