package dev.holdfast.queue.notify;

import dev.holdfast.queue.jdbc.Connections;
import dev.holdfast.queue.jdbc.Rows;
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
 * Hears the doorbell, on a connection of its own that it opens again whenever it is lost.
 *
 * <p>What is rung while it is not listening is not lost: it wakes everyone each time it begins to
 * listen, and workers poll underneath.
 */
public final class NotificationListener implements WakeUpSource {
  private static final Logger log = LoggerFactory.getLogger(NotificationListener.class);

  /** How long one wait lasts: a listener that is closed ends with the one it is in. */
  private static final Duration WAIT = Duration.ofMillis(100);

  private static final Duration SILENCE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
  private static final Duration PROBE = Duration.ofSeconds(2);

  /** How long a close waits for the connection to be given back, before it is cut. */
  private static final Duration LEAVE = Duration.ofSeconds(5);

  private final DataSource source;
  private final Set<String> queues = ConcurrentHashMap.newKeySet();
  private final Queue<String> added = new ConcurrentLinkedQueue<>();
  private final Consumer<String> wake;
  private final Thread thread;
  private volatile boolean closed;
  private volatile @Nullable Connection current;
  private volatile boolean deaf;
  private boolean probed;

  public NotificationListener(DataSource source, Collection<String> queues, Consumer<String> wake) {
    this.source = source;
    this.queues.addAll(queues);
    this.wake = wake;
    this.thread = Thread.ofPlatform().daemon().name("holdfast-listener").start(this::listen);
  }

  @Override
  public synchronized void alsoTo(String queue) {
    if (!queues.contains(queue)) {
      // In this order: whoever begins in between must not miss it.
      added.add(queue);
      queues.add(queue);
    }
  }

  @Override
  public boolean isDeaf() {
    return deaf;
  }

  public boolean isClosed() {
    return closed;
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
          hear(connection);
          giveBack(connection, auto);
        } finally {
          drop();
        }
      } catch (SQLException | RuntimeException trouble) {
        if (!closed) {
          log.debug("not listening for {} ms, polling instead", pause.toMillis(), trouble);
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
    // What is added from here on is listened to afterwards, and told once all the same.
    Set<String> begun = Set.copyOf(queues);
    added.removeAll(begun);
    listenTo(connection, begun);
    if (!probed) {
      probed = true;
      probe(connection);
    }
    begun.forEach(this::tell);
  }

  private static void listenTo(Connection connection, Collection<String> names)
      throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String queue : names) {
        statement.execute("LISTEN \"" + QueueNotifier.channel(queue) + "\"");
      }
    }
  }

  private void tell(String queue) {
    try {
      wake.accept(queue);
    } catch (RuntimeException thrown) {
      log.warn("whoever listens for queue {} threw an exception", queue, thrown);
    }
  }

  /** A pooler in transaction mode takes LISTEN and delivers nothing; better to say so once. */
  private void probe(Connection connection) throws SQLException {
    String channel = "holdfast.probe." + UUID.randomUUID();
    try (Statement statement = connection.createStatement()) {
      statement.execute("LISTEN \"" + channel + "\"");
      new Connections.Pooled(source)
          .use(other -> Rows.list(other, row -> "", "SELECT pg_notify(?, '')", channel));
      if (await(connection, PROBE).length == 0 && !closed) {
        deaf = true;
        log.warn(
            "notifications do not arrive (a pooler in transaction mode?): new jobs are found by polling");
      }
      statement.execute("UNLISTEN \"" + channel + "\"");
    }
  }

  private void hear(Connection connection) throws SQLException {
    while (!closed) {
      listenToAdded(connection);
      PGNotification[] rung = await(connection, SILENCE);
      for (PGNotification ring : rung) {
        String queue = ring.getName().substring(QueueNotifier.channel("").length());
        // A probe that was slow to come is none of theirs.
        if (queues.contains(queue)) {
          tell(queue);
        }
      }
      if (rung.length == 0 && !closed && !connection.isValid(5)) {
        // Silence and a dead peer look the same from here.
        throw new SQLException("the listening connection is gone", "08006");
      }
    }
  }

  /** What has been rung, as soon as there is something; nothing when the time is up, or closed. */
  private PGNotification[] await(Connection connection, Duration atMost) throws SQLException {
    PGConnection notified = connection.unwrap(PGConnection.class);
    long until = System.nanoTime() + atMost.toNanos();
    while (!closed && System.nanoTime() - until < 0) {
      PGNotification[] rung = notified.getNotifications((int) WAIT.toMillis());
      if (rung != null && rung.length > 0) {
        return rung;
      }
    }
    return new PGNotification[0];
  }

  private void listenToAdded(Connection connection) throws SQLException {
    String queue;
    while ((queue = added.poll()) != null) {
      listenTo(connection, List.of(queue));
      // What was rung before that nobody has heard.
      tell(queue);
    }
  }

  /** As it was: it listens no more, and what it has heard meanwhile is nobody else's. */
  private void giveBack(Connection connection, boolean auto) throws SQLException {
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
   * Returns once the connection is back where it came from. A pool takes one that was cut under it
   * for broken and says so in its log: that is for servers that do not answer.
   */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    if (!hasEnded()) {
      drop();
    }
  }

  private boolean hasEnded() {
    if (thread.equals(Thread.currentThread())) {
      return true; // it is told something, and ends right after
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
   * The connection may still listen, or is dead: nobody else may get it from the pool. Ended once,
   * and while this listener still has it: afterwards it may be somebody else's.
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
