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
  private final Duration patience;
  private @Nullable CompletableFuture<Void> looking;

  /**
   * @param look throws if the database cannot be used
   */
  Readiness(Runnable look, Duration patience) {
    this.look = look;
    this.patience = patience;
  }

  boolean isReady() throws InterruptedException {
    try {
      look().get(patience.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException | TimeoutException away) {
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
