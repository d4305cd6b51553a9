package dev.holdfast.server.live;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One who listens. What is said is put down here, without waiting, and taken by the thread that
 * writes to him; if he does not keep up, he has to begin anew.
 */
public final class Subscriber {
  /**
   * How far behind he may be, besides what he was given to begin with: more than one look can bring
   * at once, or a burst would look like a slow reader.
   */
  static final int MOST_EVENTS = 5_000;

  static final int MOST_CHARS = 8 << 20;

  /** What to write next; nothing for so long means a sign of life. */
  public record Taken(List<LiveEvent> events, boolean isOver) {}

  private final String client;
  private final Topics topics;
  private final Thread writer;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private List<LiveEvent> untaken = new ArrayList<>();
  private int begun;
  private int chars;
  private boolean over;
  private long overSince;

  /**
   * @param client who it is, among others: by the key, or where there is none by the address
   */
  public Subscriber(String client, Topics topics, Thread writer) {
    this.client = client;
    this.topics = topics;
    this.writer = writer;
  }

  String client() {
    return client;
  }

  /** What he begins with, however much it is. */
  void begin(List<LiveEvent> events) {
    lock.lock();
    try {
      if (!over) {
        events.stream().filter(event -> wants(event.topic())).forEach(untaken::add);
        begun = untaken.size();
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** False when he is too far behind. */
  boolean offer(LiveEvent event) {
    lock.lock();
    try {
      if (over || !wants(event.topic())) {
        return true;
      }
      if (untaken.size() - begun >= MOST_EVENTS || chars > MOST_CHARS) {
        return false;
      }
      untaken.add(event);
      chars += event.data().length();
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  boolean wants(String topic) {
    return topic.equals(LiveFeed.RESET) || topics.include(topic);
  }

  /** Nothing more is to come but this. */
  void end(List<LiveEvent> last) {
    lock.lock();
    try {
      if (!over) {
        untaken = new ArrayList<>(last);
        over = true;
        overSince = System.nanoTime();
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  public Taken take(Duration patience) throws InterruptedException {
    lock.lock();
    try {
      long left = patience.toNanos();
      while (untaken.isEmpty() && !over && left > 0) {
        left = changed.awaitNanos(left);
      }
      List<LiveEvent> taken = untaken;
      untaken = new ArrayList<>();
      begun = 0;
      chars = 0;
      return new Taken(taken, over);
    } finally {
      lock.unlock();
    }
  }

  /** One who does not even read his last event holds up the thread that writes it. */
  public boolean isStuckSince(Duration patience) {
    lock.lock();
    try {
      return over && System.nanoTime() - overSince > patience.toNanos();
    } finally {
      lock.unlock();
    }
  }

  /** Ends his connection in the middle of a write. */
  void cutOff() {
    writer.interrupt();
  }
}
