package dev.holdfast.queue.notify;

import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells waiting workers that a queue has work, after the commit and outside of it; in a quiet
 * moment an enqueue may ring in its own commit instead.
 *
 * <p>A NOTIFY takes a lock that is global to the server at commit, so a busy producer must not send
 * one per job: rings that arrive while one is under way become a single next one. A ring is a hint;
 * one that is lost costs a worker its polling interval and nothing else.
 */
public final class QueueNotifier implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(QueueNotifier.class);
  private static final String SQL = "SELECT pg_notify(channel, '') FROM unnest(?) AS channel";

  // Nothing is lost with a ring: its commit need not wait for the disk, with that lock in hand.
  private static final String SQL_BY_ITSELF =
      "SELECT set_config('synchronous_commit', 'off', true), pg_notify(channel, '')"
          + " FROM unnest(?) AS channel";
  private static final long DRAIN_SECONDS = 5;

  /** A worker that is at work finds what comes meanwhile by itself. */
  private static final Duration PAUSE = Duration.ofMillis(4);

  private static final Duration QUIET = Duration.ofMillis(4);

  private final Database database;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private Set<String> rung = new LinkedHashSet<>();
  private final AtomicLong usedAt = new AtomicLong(System.nanoTime());
  private final List<Ear> ears = new CopyOnWriteArrayList<>();
  private boolean busy;
  private boolean closed;
  private @Nullable Thread ringer;

  public QueueNotifier(Database database) {
    this.database = database;
  }

  /** A worker in this process, which can be told without a detour over the server. */
  record Ear(Set<String> queues, Consumer<String> wake) {
    void alsoTo(String queue) {
      queues.add(queue);
    }
  }

  public Ear hear(Collection<String> queues, Consumer<String> wake) {
    Set<String> named = ConcurrentHashMap.newKeySet();
    named.addAll(queues);
    Ear ear = new Ear(named, wake);
    ears.add(ear);
    return ear;
  }

  void noLonger(Ear ear) {
    ears.remove(ear);
  }

  /** For one that has rung in its own commit. */
  public void tellHere(Collection<String> queues) {
    for (Ear ear : ears) {
      for (String queue : queues) {
        if (ear.queues.contains(queue)) {
          try {
            ear.wake.accept(queue);
          } catch (RuntimeException thrown) {
            log.warn("whoever listens for queue {} threw an exception", queue, thrown);
          }
        }
      }
    }
  }

  public static String channel(String queue) {
    return "holdfast." + queue;
  }

  public void ring(Collection<String> queues) {
    if (queues.isEmpty()) {
      return;
    }
    lock.lock();
    try {
      if (closed) {
        return;
      }
      usedAt.set(System.nanoTime());
      rung.addAll(queues);
      if (ringer == null) {
        ringer = Thread.ofPlatform().daemon().name("holdfast-doorbell").start(this::ringAll);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether nobody has rung or asked for a while. The one who asks may then ring in its own commit:
   * that is sooner, and at most one in this while holds the lock for as long as a commit takes.
   */
  public boolean isQuiet() {
    long now = System.nanoTime();
    return now - usedAt.getAndSet(now) > QUIET.toNanos();
  }

  /** Inside the caller's transaction the ring comes with its commit, or not at all. */
  public static void ringWith(Connection connection, Collection<String> queues)
      throws SQLException {
    ring(connection, SQL, queues);
  }

  private static void ring(Connection connection, String sql, Collection<String> queues)
      throws SQLException {
    List<String> channels = queues.stream().map(QueueNotifier::channel).toList();
    Rows.list(connection, row -> "", sql, Rows.array(connection, "text", channels, c -> c));
  }

  private void ringAll() {
    Set<String> queues;
    while ((queues = next()) != null) {
      Set<String> now = queues;
      try {
        database.run(
            "ring",
            connection -> {
              ring(connection, SQL_BY_ITSELF, now);
              return true;
            });
      } catch (RuntimeException trouble) {
        log.debug("could not ring for {}: workers will find the jobs by polling", now, trouble);
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  private @Nullable Set<String> next() {
    lock.lock();
    try {
      busy = false;
      changed.signalAll();
      while (rung.isEmpty()) {
        if (closed) {
          return null;
        }
        changed.awaitUninterruptibly();
      }
      Set<String> queues = rung;
      rung = new LinkedHashSet<>();
      busy = true;
      return queues;
    } finally {
      lock.unlock();
    }
  }

  /** Sends what was rung before, so that a short-lived producer leaves no job unannounced. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
      long left = TimeUnit.SECONDS.toNanos(DRAIN_SECONDS);
      while (ringer != null && (busy || !rung.isEmpty()) && left > 0) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }
}
