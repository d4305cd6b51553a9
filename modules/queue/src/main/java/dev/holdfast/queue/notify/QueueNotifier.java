package dev.holdfast.queue.notify;

import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends and receives the notifications that a queue has work.
 *
 * <p>NOTIFY takes a lock at commit that is global to the server, so a busy producer must not send
 * one per job. Notifications are sent after the commit of the enqueue, by a thread of their own,
 * and those that are asked for while one is being sent become a single next one. In a quiet moment
 * an enqueue may notify in its own commit instead. A lost notification costs a worker its polling
 * interval and nothing else.
 */
public final class QueueNotifier implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(QueueNotifier.class);
  private static final Sql SQL =
      Sql.of("SELECT pg_notify(channel, '') FROM unnest(:channels) AS channel");

  // Nothing is lost with a notification, so its commit need not wait for the disk while it holds
  // the global lock.
  private static final Sql SQL_WITHOUT_FLUSH =
      Sql.of(
          """
          SELECT set_config('synchronous_commit', 'off', true), pg_notify(channel, '')
            FROM unnest(:channels) AS channel
          """);

  private static final long DRAIN_SECONDS = 5;

  /** A busy worker finds jobs without being notified, so notifications are sent this far apart. */
  private static final Duration PAUSE = Duration.ofMillis(4);

  private static final Duration QUIET = Duration.ofMillis(4);

  /** The payload of notifications that return to a process which knows of the job already. */
  private final String sender = Long.toHexString(ThreadLocalRandom.current().nextLong());

  private final Database database;
  private final DataSource source;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private Set<String> pending = new LinkedHashSet<>();
  private final AtomicLong usedAt = new AtomicLong(System.nanoTime());
  private final List<DatabaseSubscription> subscriptions = new CopyOnWriteArrayList<>();
  private boolean busy;
  private boolean closed;
  private @Nullable Thread sending;

  /**
   * @param source where subscriptions get the connections on which they listen
   */
  public QueueNotifier(Database database, DataSource source) {
    this.database = database;
    this.source = source;
  }

  public static String channel(String queue) {
    return "holdfast." + queue;
  }

  /**
   * What a caller that notifies in its own commit, and then calls {@link #wakeHere}, gives as the
   * payload: subscriptions that were woken here ignore the notification when it arrives.
   */
  public String sender() {
    return sender;
  }

  /** Calls {@code wake} whenever one of the queues may have work. */
  public DatabaseSubscription subscribe(Collection<String> queues, Consumer<String> wake) {
    DatabaseSubscription subscription = new DatabaseSubscription(this, source, true);
    subscription.onWakeUp(wake);
    // The names become part of a statement where parameters are not allowed.
    queues.stream().map(Limits::queue).toList().forEach(subscription::add);
    return open(subscription);
  }

  /**
   * A subscription that is woken by the database alone, once for each notification, and whose
   * queues and callbacks are added later.
   */
  public DatabaseSubscription subscribeToDatabase() {
    return open(new DatabaseSubscription(this, source, false));
  }

  private DatabaseSubscription open(DatabaseSubscription subscription) {
    subscriptions.add(subscription);
    return subscription.start();
  }

  void closed(DatabaseSubscription subscription) {
    subscriptions.remove(subscription);
  }

  /** How many subscriptions are open; each keeps a connection. */
  public int subscriptions() {
    return subscriptions.size();
  }

  /** Wakes the subscriptions of this process, for a caller that has notified in its own commit. */
  public void wakeHere(Collection<String> queues) {
    for (DatabaseSubscription subscription : subscriptions) {
      queues.forEach(subscription::wakeHere);
    }
  }

  /** Notifies soon, from the notifier's own thread. */
  public void send(Collection<String> queues) {
    if (queues.isEmpty()) {
      return;
    }
    lock.lock();
    try {
      if (closed) {
        return;
      }
      usedAt.set(System.nanoTime());
      pending.addAll(queues);
      if (sending == null) {
        sending = Thread.ofPlatform().daemon().name("holdfast-notifier").start(this::sendPending);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether no notification was sent or requested for a while. The caller may then notify in its
   * own commit: that is sooner, and at most one commit per while holds the global lock.
   */
  public boolean isQuiet() {
    long now = System.nanoTime();
    return now - usedAt.getAndSet(now) > QUIET.toNanos();
  }

  /** Notifies in the caller's transaction: with its commit, or not at all. */
  public static void sendWith(Connection connection, Collection<String> queues)
      throws SQLException {
    send(connection, SQL, queues);
  }

  private static void send(Connection connection, Sql sql, Collection<String> queues)
      throws SQLException {
    List<String> channels = queues.stream().map(QueueNotifier::channel).toList();
    sql.on(connection).array("channels", "text", channels, channel -> channel).list(row -> "");
  }

  private void sendPending() {
    Set<String> next;
    while ((next = next()) != null) {
      Set<String> queues = next;
      try {
        database.run(
            "notify",
            connection -> {
              send(connection, SQL_WITHOUT_FLUSH, queues);
              return true;
            });
      } catch (RuntimeException e) {
        log.debug("could not notify {}: workers will find the jobs by polling", queues, e);
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  private @Nullable Set<String> next() {
    lock.lock();
    try {
      busy = false;
      changed.signalAll();
      while (pending.isEmpty()) {
        if (closed) {
          return null;
        }
        changed.awaitUninterruptibly();
      }
      Set<String> queues = pending;
      pending = new LinkedHashSet<>();
      busy = true;
      return queues;
    } finally {
      lock.unlock();
    }
  }

  /** Sends what is pending first, so that a short-lived producer leaves no job unannounced. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
      long left = TimeUnit.SECONDS.toNanos(DRAIN_SECONDS);
      while (sending != null && (busy || !pending.isEmpty()) && left > 0) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }
}
