package dev.holdfast.client.worker;

import dev.holdfast.client.http.ServerConnection;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.lease.QueueWait;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Long polls of a worker for new jobs. A wake-up that comes between two polls is not lost: the
 * worker is woken each time that polling resumes, and it looks for jobs by itself as well.
 */
final class HttpListening implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HttpListening.class);

  /** Shorter than the idle timeout of common proxies. */
  private static final Duration WAIT = Duration.ofSeconds(25);

  private static final Duration SLACK = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private final WorkerCalls server;
  private final List<String> queues;
  private final Consumer<String> wake;
  private final byte[] waitForRing;
  private final byte[] look;
  private final Thread thread;
  private final Object lock = new Object();
  private volatile boolean closed;
  private ServerConnection.@Nullable Call waiting;

  HttpListening(WorkerCalls server, List<String> queues, Consumer<String> wake) {
    this.server = server;
    this.queues = queues;
    this.wake = wake;
    // The worker's own name is not known here; this one only tells one waiter from another.
    String name = "listener-" + UUID.randomUUID();
    this.waitForRing = Wire.write(new QueueWait(name, queues, WAIT.toMillis()));
    this.look = Wire.write(new QueueWait(name, queues, 0));
    this.thread = Thread.ofPlatform().daemon().name("holdfast-http-listener").start(this::listen);
  }

  private void listen() {
    Duration pause = FIRST_PAUSE;
    boolean missed = true;
    while (!closed) {
      try {
        List<String> rung = ask(missed ? look : waitForRing);
        // After a gap, wake-ups may have been missed: every queue counts as rung.
        (missed ? queues : rung).forEach(this::tell);
        missed = false;
        pause = FIRST_PAUSE;
      } catch (RuntimeException trouble) {
        missed = true;
        if (!closed) {
          tell(trouble, pause);
          LockSupport.parkNanos(
              pause.toNanos() / 2 + ThreadLocalRandom.current().nextLong(pause.toNanos()));
          pause = pause.multipliedBy(2);
          pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
        }
      }
    }
  }

  private static void tell(RuntimeException trouble, Duration pause) {
    if (trouble instanceof SourceUnavailableException) {
      log.debug("not listening for {} ms, polling instead", pause.toMillis(), trouble);
    } else {
      log.info("cannot listen for jobs, polling instead: {}", trouble.getMessage());
    }
  }

  private List<String> ask(byte[] question) {
    ServerConnection.Call call;
    synchronized (lock) {
      if (closed) {
        return List.of();
      }
      call = server.begin("/v1/queues/wait", question, WAIT.plus(SLACK));
      waiting = call;
    }
    return server.await(call, QueueWait.Answer.class).queues();
  }

  private void tell(String queue) {
    try {
      wake.accept(queue);
    } catch (RuntimeException thrown) {
      log.warn("whoever listens for queue {} threw an exception", queue, thrown);
    }
  }

  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      if (waiting != null) {
        waiting.abandon();
      }
    }
    LockSupport.unpark(thread);
  }
}
