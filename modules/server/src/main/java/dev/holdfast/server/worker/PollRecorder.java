package dev.holdfast.server.worker;

import dev.holdfast.queue.health.WorkerPolls;
import dev.holdfast.queue.health.WorkerPolls.Poll;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Remembers which workers ask this server for jobs, and writes it once a second: so that they are
 * seen from every server, and a request costs no statement.
 */
public final class PollRecorder {
  /** A worker that has not asked again by then is gone. */
  private static final Duration SLACK = Duration.ofSeconds(20);

  /** What changes by less is not written: most workers ask again long before they would be gone. */
  private static final Duration SAME = Duration.ofSeconds(5);

  /** A client may close one request to send another. */
  private static final Duration AFTER_CLOSE = Duration.ofSeconds(2);

  private static final int MOST = 10_000;

  private record Key(String worker, LongPollBroker.Line line) {}

  /**
   * @param until when the worker is gone unless it asks again
   * @param waiting how many of its requests wait for an answer
   */
  private record Known(long until, boolean written, int waiting) {}

  private final WorkerPolls polls;
  private final LongSupplier nanoTime;
  private final Map<Key, Known> known = new HashMap<>();

  public PollRecorder(WorkerPolls polls, LongSupplier nanoTime) {
    this.polls = polls;
    this.nanoTime = nanoTime;
  }

  /** A worker asks, and may wait so long for the answer. */
  void asks(String worker, Collection<LongPollBroker.Line> lines, Duration wait) {
    lines.forEach(line -> expires(new Key(worker, line), wait.plus(SLACK), 1));
  }

  /** It has its answer, and asks again, or it closed the connection. */
  void answered(String worker, Collection<LongPollBroker.Line> lines, boolean isGone) {
    lines.forEach(line -> expires(new Key(worker, line), isGone ? AFTER_CLOSE : SLACK, -1));
  }

  private synchronized void expires(Key key, Duration in, int more) {
    long until = nanoTime.getAsLong() + in.toNanos();
    Known before = known.get(key);
    if (before == null) {
      if (more > 0 && known.size() < MOST) {
        known.put(key, new Known(until, false, more));
      }
      return;
    }
    int waiting = Math.max(0, before.waiting() + more);
    // Another request of it waits, or it asks again soon enough.
    boolean same = (more < 0 && waiting > 0) || Math.abs(until - before.until()) < SAME.toNanos();
    known.put(
        key,
        same
            ? new Known(before.until(), before.written(), waiting)
            : new Known(until, false, waiting));
  }

  /** Writes what is new; what could not be written still is. */
  public void write() {
    Map<Key, Poll> fresh = new HashMap<>();
    synchronized (this) {
      long now = nanoTime.getAsLong();
      known.values().removeIf(each -> each.written() && each.waiting() == 0 && each.until() < now);
      known.replaceAll(
          (key, each) -> {
            if (!each.written()) {
              Duration left = Duration.ofNanos(Math.max(0, each.until() - now));
              fresh.put(
                  key,
                  new Poll(
                      key.worker(),
                      key.line().queue(),
                      key.line().tenant(),
                      key.line().versions(),
                      left));
            }
            return new Known(each.until(), true, each.waiting());
          });
    }
    try {
      polls.write(fresh.values());
    } catch (RuntimeException failed) {
      fresh.keySet().forEach(this::notWritten);
      throw failed;
    }
  }

  private synchronized void notWritten(Key key) {
    known.computeIfPresent(key, (k, each) -> new Known(each.until(), false, each.waiting()));
  }
}
