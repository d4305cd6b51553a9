package dev.holdfast.server.metrics;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A metric that is read from the database, at most every five seconds. */
final class CachedGauge<T> {
  private static final Logger log = LoggerFactory.getLogger(CachedGauge.class);
  private static final Duration GOOD_FOR = Duration.ofSeconds(5);
  private static final Executor VIRTUAL = task -> Thread.ofVirtual().start(task);

  private final String name;
  private final Supplier<T> read;
  private final T unknown;
  private final Consumer<T> show;

  /** Has one entry, by the name; a read that has not ended is not started a second time. */
  private final AsyncCache<String, Boolean> reads =
      Caffeine.newBuilder().expireAfterWrite(GOOD_FOR).executor(VIRTUAL).buildAsync();

  /**
   * @param unknown shown if the database cannot be read: an old value would look like a current one
   */
  CachedGauge(String name, Supplier<T> read, T unknown, Consumer<T> show) {
    this.name = name;
    this.read = read;
    this.unknown = unknown;
    this.show = show;
  }

  /** Waits at most a second, so that a slow database does not hold up the other metrics. */
  void refresh() {
    try {
      var unused = reads.get(name, (key, executor) -> shown(executor)).get(1, TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException failed) {
      log.debug("the metrics of {} could not be read", name, failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private CompletableFuture<Boolean> shown(Executor executor) {
    return CompletableFuture.supplyAsync(read, executor)
        .exceptionally(failed -> unknown)
        .thenApply(
            value -> {
              show.accept(value);
              return true;
            });
  }
}
