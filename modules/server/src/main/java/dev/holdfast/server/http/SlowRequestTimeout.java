package dev.holdfast.server.http;

import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1ConnectionListener;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Ends the connection of a client that begins a request and stops sending: one limit for the
 * headers, one for the body. The web server reads through channels, on which a read timeout has no
 * effect; an interrupt closes them.
 */
public final class SlowRequestTimeout implements Http1ConnectionListener, AutoCloseable {
  /** Reads a body. */
  @FunctionalInterface
  public interface Reading<T> {
    T read() throws IOException;
  }

  private final Duration most;
  private final ScheduledThreadPoolExecutor clock;
  private static final ThreadLocal<Future<?>> forHeaders = new ThreadLocal<>();

  public SlowRequestTimeout(Duration most) {
    this.most = most;
    this.clock =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("holdfast-slow-requests").factory());
    clock.setRemoveOnCancelPolicy(true);
  }

  @Override
  public void prologue(ConnectionContext context, HttpPrologue prologue) {
    forHeaders.set(interrupting(Thread.currentThread()));
  }

  @Override
  public void headers(ConnectionContext context, Headers headers) {
    Future<?> end = forHeaders.get();
    if (end != null) {
      end.cancel(false);
      forHeaders.remove();
    }
  }

  public <T> T during(Reading<T> reading) throws IOException {
    Future<?> end = interrupting(Thread.currentThread());
    try {
      return reading.read();
    } finally {
      end.cancel(false);
    }
  }

  private Future<?> interrupting(Thread reader) {
    return clock.schedule(reader::interrupt, most.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
