package dev.holdfast.server.live;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One live stream. Events are queued here without blocking, and taken by the thread that writes
 * them to the client. A client that does not keep up has to start again.
 */
public final class Subscriber {
  /**
   * How many events may be queued besides the first ones: more than one poll can bring, otherwise a
   * burst would look like a slow reader.
   */
  static final int MOST_EVENTS = 5_000;

  static final int MOST_CHARS = 8 << 20;

  /** The events to write next; if there are none, a comment is written. */
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
   * @param client the id of the API key; without keys the address
   */
  public Subscriber(String client, Topics topics, Thread writer) {
    this.client = client;
    this.topics = topics;
    this.writer = writer;
  }

  String client() {
    return client;
  }

  /** The first events, however many. */
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

  /** False if too many events are queued. */
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

  /** Ends the stream after these events. */
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

  public Taken take(Duration timeout) throws InterruptedException {
    lock.lock();
    try {
      long left = timeout.toNanos();
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

  /** Whether the stream has ended this long ago, but its thread still writes. */
  public boolean isStuckSince(Duration timeout) {
    lock.lock();
    try {
      return over && System.nanoTime() - overSince > timeout.toNanos();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the connection in the middle of a write. */
  void cutOff() {
    writer.interrupt();
  }
}
