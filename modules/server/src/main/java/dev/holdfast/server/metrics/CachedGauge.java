package dev.holdfast.server.metrics;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Something of the database that is shown among the metrics: looked up at most every 5 s. */
final class CachedGauge<T> {
  private static final Logger log = LoggerFactory.getLogger(CachedGauge.class);
  private static final Duration GOOD_FOR = Duration.ofSeconds(5);
  private static final Executor BESIDE = task -> Thread.ofVirtual().start(task);

  private final String what;
  private final Supplier<T> look;
  private final T unknown;
  private final Consumer<T> show;
  private @Nullable CompletableFuture<Void> reading;
  private long readAt;

  /**
   * @param unknown shown while the database is away: a number from before would look like one from
   *     now
   */
  CachedGauge(String what, Supplier<T> look, T unknown, Consumer<T> show) {
    this.what = what;
    this.look = look;
    this.unknown = unknown;
    this.show = show;
  }

  /** Waits a moment for the database, not longer: the other numbers are worth having by then. */
  void refresh() {
    try {
      read().get(1, TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException away) {
      log.debug("nothing is known of {}", what, away);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized CompletableFuture<Void> read() {
    CompletableFuture<Void> last = reading;
    boolean old = System.nanoTime() - readAt > GOOD_FOR.toNanos();
    if (last != null && (!last.isDone() || !old)) {
      return last;
    }
    readAt = System.nanoTime();
    CompletableFuture<Void> next =
        CompletableFuture.supplyAsync(look, BESIDE).exceptionally(away -> unknown).thenAccept(show);
    reading = next;
    return next;
  }
}
