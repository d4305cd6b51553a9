package dev.holdfast.queue.schema;

import dev.holdfast.queue.jdbc.Connections;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.DatabaseException.Reason;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Whether a worker could work here: takes all connections that it needs at the same time, and looks
 * at the schema on one of them.
 *
 * <p>On a thread of its own, because a pool may make its callers wait for ever. Connections that
 * others hold for a moment are waited for; one that comes too late is returned.
 */
public final class SchemaCheck {
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Database heartbeats;
  private final Connections pool;
  private final boolean listens;
  private final boolean checkSchema;
  private final Duration timeout;
  private volatile long until;
  private volatile int most;
  private volatile boolean refused;
  private volatile @Nullable SQLException error;

  private SchemaCheck(
      Database heartbeats,
      DataSource source,
      boolean listens,
      boolean checkSchema,
      Duration timeout) {
    this.heartbeats = heartbeats;
    this.pool = new Connections.Pooled(source);
    this.listens = listens;
    this.checkSchema = checkSchema;
    this.timeout = timeout;
    this.until = System.nanoTime() + timeout.toNanos();
  }

  /**
   * @param listens whether it keeps a connection to be notified on
   * @param listeners how many other workers here keep one already
   * @param timeout how long each of the connections may take
   */
  public static void run(
      Database heartbeats,
      DataSource source,
      boolean listens,
      int listeners,
      boolean checkSchema,
      Duration timeout) {
    SchemaCheck check = new SchemaCheck(heartbeats, source, listens, checkSchema, timeout);
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("holdfast-worker-check")
        .start(
            () -> {
              try {
                check.tryUntilDone();
                done.complete(null);
              } catch (Throwable thrown) {
                done.completeExceptionally(thrown);
              }
              check.releaseIfRefused(listeners);
            });
    try {
      check.await(done, listeners);
    } catch (RuntimeException thrown) {
      check.refused = true;
      check.releaseIfRefused(listeners);
      throw thrown;
    }
  }

  /** Called by both threads: the connection may come after the refusal. */
  private void releaseIfRefused(int listeners) {
    // A worker that runs heartbeats on it.
    if (refused && listeners == 0) {
      heartbeats.release();
    }
  }

  private void await(CompletableFuture<Void> done, int listeners) {
    try {
      while (!isDone(done)) {
        if (System.nanoTime() - until > 0) {
          throw refusal(listeners);
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new DatabaseException(
          Reason.INTERRUPTED, "interrupted before the worker had started", interrupted);
    } catch (ExecutionException failed) {
      throw switch (failed.getCause()) {
        case SQLException wrong when SqlErrors.isTransient(wrong) -> refusal(listeners);
        case SQLException wrong -> SqlErrors.thrown("start", wrong);
        case RuntimeException wrong -> wrong;
        case null, default -> new IllegalStateException(failed.getCause());
      };
    }
  }

  private boolean isDone(CompletableFuture<Void> done)
      throws InterruptedException, ExecutionException {
    try {
      done.get(Math.max(1, until - System.nanoTime()), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException late) {
      return false; // and one more connection may have moved the end meanwhile
    }
  }

  private void tryUntilDone() throws SQLException {
    while (true) {
      try {
        takeAll();
        return;
      } catch (SQLException failed) {
        error = failed;
        if (!SqlErrors.isTransient(failed) || refused || System.nanoTime() - until > 0) {
          throw failed;
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  private void takeAll() throws SQLException {
    heartbeats.connect();
    got(1);
    pool.use(
        connection -> {
          got(2);
          if (checkSchema) {
            Schema.check(connection, true);
          }
          if (listens) {
            pool.use(
                another -> {
                  got(3);
                  return true;
                });
          }
          return true;
        });
  }

  /** A start that is slow but gets on is not refused. */
  private void got(int connections) {
    if (connections > most) {
      until = System.nanoTime() + timeout.toNanos();
      most = connections;
    }
  }

  private DatabaseException refusal(int listeners) {
    SQLException last = error;
    String said = last == null ? "" : " (" + last.getMessage() + ")";
    // A pool that has no more to give has no code to say so; any code is the server's or the
    // driver's.
    if (most == 0 || (last != null && last.getSQLState() != null)) {
      return new DatabaseException(
          Reason.UNAVAILABLE,
          "no connection to the database within %d s: is the server running, can it be reached from here, and is a connection of the pool free?%s"
              .formatted(timeout.toSeconds(), said),
          last);
    }
    int needed = listeners + (listens ? 3 : 2);
    return new DatabaseException(
        Reason.POOL_TOO_SMALL,
        "the pool gave %d of the %d connections that the workers on it need at the same time, within %d s: one to heartbeat, one to claim and settle%s. Raise its maximum (maximumPoolSize in HikariCP) to %d or more, and by as many as your service and its handlers hold at the same time%s"
            .formatted(
                listeners + most,
                needed,
                timeout.toSeconds(),
                listens ? ", and for each worker one to listen" : "",
                needed,
                said),
        last);
  }
}
