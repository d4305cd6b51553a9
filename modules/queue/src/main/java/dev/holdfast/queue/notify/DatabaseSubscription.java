package dev.holdfast.queue.notify;

import dev.holdfast.model.value.Subscription;
import dev.holdfast.queue.jdbc.Connections;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives notifications over LISTEN, on a connection of its own that it opens again whenever it is
 * lost. It may also be woken directly by enqueues of its own process, which saves the way over the
 * server.
 */
public final class DatabaseSubscription implements Subscription {
  private static final Logger log = LoggerFactory.getLogger(DatabaseSubscription.class);
  private static final Sql NOTIFY = Sql.of("SELECT pg_notify(:channel, '')");

  /** How long one wait lasts: a subscription that is closed ends with the wait it is in. */
  private static final Duration WAIT = Duration.ofMillis(100);

  private static final Duration SILENCE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
  private static final Duration PROBE = Duration.ofSeconds(2);

  /** How long a close waits for the connection to be returned before it aborts it. */
  private static final Duration LEAVE = Duration.ofSeconds(5);

  private final QueueNotifier notifier;
  private final DataSource source;
  private final boolean wokenHere;
  private final Set<String> queues = ConcurrentHashMap.newKeySet();
  private final Queue<String> added = new ConcurrentLinkedQueue<>();
  private final List<Consumer<String>> callbacks = new CopyOnWriteArrayList<>();
  private final Thread thread;
  private volatile boolean closed;
  private volatile @Nullable Connection current;
  private volatile boolean nothingArrives;
  private boolean probed;

  /**
   * @param wokenHere whether enqueues of this process wake it directly
   */
  DatabaseSubscription(QueueNotifier notifier, DataSource source, boolean wokenHere) {
    this.notifier = notifier;
    this.source = source;
    this.wokenHere = wokenHere;
    this.thread = Thread.ofPlatform().daemon().name("holdfast-listener").unstarted(this::listen);
  }

  DatabaseSubscription start() {
    thread.start();
    return this;
  }

  /** Calls back with the names of queues, from the thread that received the notification. */
  public void onWakeUp(Consumer<String> callback) {
    callbacks.add(callback);
  }

  /** Listens for this queue too, within a second. The name is one that was checked. */
  public synchronized void add(String queue) {
    if (!queues.contains(queue)) {
      // In this order: a thread that begins to listen in between must not miss it.
      added.add(queue);
      queues.add(queue);
    }
  }

  /** Whether LISTEN is known not to work on this connection, so that only polling finds jobs. */
  public boolean nothingArrives() {
    return nothingArrives;
  }

  void wakeHere(String queue) {
    if (wokenHere && queues.contains(queue)) {
      wake(queue);
    }
  }

  private void listen() {
    Duration pause = Duration.ofMillis(100);
    while (!closed) {
      try (Connection connection = Connections.open(source)) {
        current = connection;
        try {
          boolean auto = connection.getAutoCommit();
          begin(connection);
          pause = Duration.ofMillis(100);
          receive(connection);
          returnToPool(connection, auto);
        } finally {
          drop();
        }
      } catch (SQLException | RuntimeException e) {
        if (!closed) {
          log.debug("not listening for {} ms, polling instead", pause.toMillis(), e);
          LockSupport.parkNanos(
              pause.toNanos() / 2 + ThreadLocalRandom.current().nextLong(pause.toNanos()));
          pause =
              pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
                  ? pause.multipliedBy(2)
                  : LONGEST_PAUSE;
        }
      }
    }
  }

  private void begin(Connection connection) throws SQLException {
    connection.setAutoCommit(true);
    // Queues that are added from here on are listened to by listenToAdded.
    Set<String> begun = Set.copyOf(queues);
    added.removeAll(begun);
    listenTo(connection, begun);
    if (!probed) {
      probed = true;
      probe(connection);
    }
    begun.forEach(this::wake);
  }

  private static void listenTo(Connection connection, Collection<String> names)
      throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String queue : names) {
        statement.execute("LISTEN \"" + QueueNotifier.channel(queue) + "\"");
      }
    }
  }

  private void wake(String queue) {
    for (Consumer<String> callback : callbacks) {
      try {
        callback.accept(queue);
      } catch (RuntimeException thrown) {
        log.warn("a listener of queue {} threw an exception", queue, thrown);
      }
    }
  }

  /** A pooler in transaction mode accepts LISTEN and delivers nothing: that is logged once. */
  private void probe(Connection connection) throws SQLException {
    String channel = "holdfast.probe." + UUID.randomUUID();
    try (Statement statement = connection.createStatement()) {
      statement.execute("LISTEN \"" + channel + "\"");
      new Connections.Pooled(source)
          .use(other -> NOTIFY.on(other).set("channel", channel).list(row -> ""));
      if (await(connection, PROBE).length == 0 && !closed) {
        nothingArrives = true;
        log.warn(
            "notifications do not arrive (a pooler in transaction mode?): new jobs are found by polling");
      }
      statement.execute("UNLISTEN \"" + channel + "\"");
    }
  }

  private void receive(Connection connection) throws SQLException {
    while (!closed) {
      listenToAdded(connection);
      PGNotification[] received = await(connection, SILENCE);
      for (PGNotification notification : received) {
        String queue = notification.getName().substring(QueueNotifier.channel("").length());
        boolean known = wokenHere && notification.getParameter().equals(notifier.sender());
        // A late answer to the probe is no queue.
        if (queues.contains(queue) && !known) {
          wake(queue);
        }
      }
      if (received.length == 0 && !closed && !connection.isValid(5)) {
        // Silence and a dead peer look the same from here.
        throw new SQLException("the listening connection is gone", "08006");
      }
    }
  }

  /** The notifications received, or none when the time is up or the subscription is closed. */
  private PGNotification[] await(Connection connection, Duration atMost) throws SQLException {
    PGConnection notified = connection.unwrap(PGConnection.class);
    long until = System.nanoTime() + atMost.toNanos();
    while (!closed && System.nanoTime() - until < 0) {
      PGNotification[] received = notified.getNotifications((int) WAIT.toMillis());
      if (received != null && received.length > 0) {
        return received;
      }
    }
    return new PGNotification[0];
  }

  private void listenToAdded(Connection connection) throws SQLException {
    String queue;
    while ((queue = added.poll()) != null) {
      listenTo(connection, List.of(queue));
      // Notifications from before the LISTEN were not received.
      wake(queue);
    }
  }

  /** Leaves the connection as the pool gave it out: without LISTEN and without notifications. */
  private void returnToPool(Connection connection, boolean auto) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("UNLISTEN *");
    }
    connection.unwrap(PGConnection.class).getNotifications();
    if (!auto) {
      connection.setAutoCommit(false);
    }
    forget();
  }

  private synchronized void forget() {
    current = null;
  }

  /**
   * Returns once the connection is back in its pool. Only if the server does not answer is the
   * connection aborted, because a pool logs an aborted connection as broken.
   */
  @Override
  public void close() {
    notifier.closed(this);
    closed = true;
    LockSupport.unpark(thread);
    if (!hasEnded()) {
      drop();
    }
  }

  private boolean hasEnded() {
    if (thread.equals(Thread.currentThread())) {
      return true; // called from a callback: the thread ends right after it
    }
    boolean interrupted = false;
    try {
      long until = System.nanoTime() + LEAVE.toNanos();
      while (true) {
        try {
          return thread.join(Duration.ofNanos(Math.max(1, until - System.nanoTime())));
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Aborts the connection, which may still listen or be dead, so that the pool does not lend it
   * again else. Only while this subscription holds it: afterwards it may be another's.
   */
  private synchronized void drop() {
    Connection listening = current;
    current = null;
    if (listening != null) {
      try {
        listening.abort(Runnable::run);
      } catch (SQLException alreadyGone) {
        // which is what was wanted
      }
    }
  }
}
