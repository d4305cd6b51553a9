package dev.holdfast.server.api;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Whether the database answers. Concurrent requests share one check, and wait for it a limited time
 * only.
 */
final class Readiness {
  private final Runnable look;
  private final Duration timeout;
  private @Nullable CompletableFuture<Void> looking;

  /**
   * @param look throws if the database cannot be used
   */
  Readiness(Runnable look, Duration timeout) {
    this.look = look;
    this.timeout = timeout;
  }

  boolean isReady() throws InterruptedException {
    try {
      look().get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException | TimeoutException unavailable) {
      return false;
    }
  }

  private synchronized CompletableFuture<Void> look() {
    CompletableFuture<Void> current = looking;
    if (current == null || current.isDone()) {
      current =
          CompletableFuture.runAsync(
              look, task -> Thread.ofVirtual().name("holdfast-ready").start(task));
      looking = current;
    }
    return current;
  }
}
