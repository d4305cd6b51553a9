package dev.holdfast.client.worker;

import dev.holdfast.client.http.ServerConnection;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.lease.QueueWait;
import dev.holdfast.model.value.Jitter;
import dev.holdfast.model.value.Subscription;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Receives notifications from a server, by one long request after another. */
final class HttpSubscription implements Subscription {
  private static final Logger log = LoggerFactory.getLogger(HttpSubscription.class);

  /** Shorter than the time after which proxies usually cut a silent request. */
  private static final Duration WAIT = Duration.ofSeconds(25);

  private static final Duration SLACK = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final String PATH = "/v1/queues/wait";
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private final WorkerCalls server;
  private final List<String> queues;
  private final Consumer<String> callback;
  private final byte[] longRequest;
  private final byte[] shortRequest;
  private final Thread thread;
  private final Object lock = new Object();
  private volatile boolean closed;
  private ServerConnection.@Nullable Call waiting;

  HttpSubscription(WorkerCalls server, List<String> queues, Consumer<String> callback) {
    this.server = server;
    this.queues = queues;
    this.callback = callback;
    // Not the worker's name, which is not known here: it only tells one request from another.
    String name = "listener-" + UUID.randomUUID();
    this.longRequest = Wire.write(new QueueWait(name, queues, WAIT.toMillis()));
    this.shortRequest = Wire.write(new QueueWait(name, queues, 0));
    this.thread = Thread.ofPlatform().daemon().name("holdfast-http-listener").start(this::listen);
  }

  private void listen() {
    Duration pause = FIRST_PAUSE;
    boolean missed = true;
    while (!closed) {
      try {
        List<String> notified = ask(missed ? shortRequest : longRequest);
        // Notifications from before the first request were not received.
        (missed ? queues : notified).forEach(this::wake);
        missed = false;
        pause = FIRST_PAUSE;
      } catch (RuntimeException e) {
        missed = true;
        if (!closed) {
          logFailure(e, pause);
          LockSupport.parkNanos(Jitter.aroundHalf(pause).toNanos());
          pause = pause.multipliedBy(2);
          pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
        }
      }
    }
  }

  private static void logFailure(RuntimeException error, Duration pause) {
    if (error instanceof SourceUnavailableException) {
      log.debug("not listening for {} ms, polling instead", pause.toMillis(), error);
    } else {
      log.info("cannot listen for jobs, polling instead: {}", error.getMessage());
    }
  }

  private List<String> ask(byte[] question) {
    ServerConnection.Call call;
    synchronized (lock) {
      if (closed) {
        return List.of();
      }
      call = server.begin(PATH, question, WAIT.plus(SLACK));
      waiting = call;
    }
    return server.await(PATH, call, QueueWait.Answer.class).queues();
  }

  private void wake(String queue) {
    try {
      callback.accept(queue);
    } catch (RuntimeException thrown) {
      log.warn("a listener of queue {} threw an exception", queue, thrown);
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
