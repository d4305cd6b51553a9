package dev.holdfast.client.worker;

import dev.holdfast.client.http.ServerConnection;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.lease.QueueWait;
import dev.holdfast.model.value.Jitter;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits at the server for work, again and again. What comes while it is not waiting is not lost: it
 * wakes its worker each time it can wait again, and the worker polls underneath.
 */
final class HttpListening implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HttpListening.class);

  /** Short enough for whatever stands between us and the server. */
  private static final Duration WAIT = Duration.ofSeconds(25);

  private static final Duration SLACK = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private final ServerConnection server;
  private final List<String> queues;
  private final Consumer<String> wake;
  private final byte[] waitForRing;
  private final byte[] look;
  private final Thread thread;
  private final Object lock = new Object();
  private volatile boolean closed;
  private ServerConnection.@Nullable Call<QueueWait.Answer> waiting;

  HttpListening(ServerConnection server, List<String> queues, Consumer<String> wake) {
    this.server = server;
    this.queues = queues;
    this.wake = wake;
    // Not the worker's own name, which is not known here; it tells one waiter from another.
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
        // Whatever was rung before somebody listened, nobody has heard.
        (missed ? queues : rung).forEach(this::tell);
        missed = false;
        pause = FIRST_PAUSE;
      } catch (RuntimeException trouble) {
        missed = true;
        if (!closed) {
          tell(trouble, pause);
          LockSupport.parkNanos(Jitter.aroundHalf(pause).toNanos());
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
    ServerConnection.Call<QueueWait.Answer> call;
    synchronized (lock) {
      if (closed) {
        return List.of();
      }
      call =
          server.posting(
              "/v1/queues/wait",
              question,
              WAIT.plus(SLACK),
              Refusal.BAD_NAME,
              QueueWait.Answer.class);
      waiting = call;
    }
    return server.answer(call).queues();
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
