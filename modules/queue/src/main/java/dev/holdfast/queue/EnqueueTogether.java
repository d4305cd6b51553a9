package dev.holdfast.queue;

import dev.holdfast.model.Enqueued;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes what several threads enqueue at the same moment in one statement: one commit, one flush of
 * the log for all. Nobody waits for company. Whoever comes while {@value #WRITERS} others are
 * writing is written next, with all that came meanwhile; each returns once its own job is durable.
 *
 * @param <J> a job
 */
final class EnqueueTogether<J> {
  private static final int WRITERS = 3;
  private static final int BATCH = 500;

  private final Function<List<J>, List<Enqueued>> write;
  private final Object lock = new Object();
  private final Queue<Waiting<J>> waiting = new ArrayDeque<>();
  private int writers;

  /**
   * @param write writes jobs, all or none
   */
  EnqueueTogether(Function<List<J>, List<Enqueued>> write) {
    this.write = write;
  }

  /** One caller with its job. Its turn comes when it is to write, or has been written. */
  private static final class Waiting<J> {
    final J job;
    final CompletableFuture<Boolean> turn = new CompletableFuture<>();
    volatile @Nullable Enqueued enqueued;
    volatile @Nullable RuntimeException trouble;

    Waiting(J job) {
      this.job = job;
    }

    boolean isAnswered() {
      return enqueued != null || trouble != null;
    }
  }

  Enqueued enqueue(J job) {
    Waiting<J> mine = new Waiting<>(job);
    boolean writes;
    synchronized (lock) {
      writes = writers < WRITERS;
      if (writes) {
        writers++;
      } else {
        waiting.add(mine);
      }
    }
    if (writes || mine.turn.join()) {
      writeWithOthers(mine);
    }
    RuntimeException trouble = mine.trouble;
    if (trouble != null) {
      throw trouble;
    }
    Enqueued enqueued = mine.enqueued;
    if (enqueued == null) {
      throw new IllegalStateException(job + " has not been written");
    }
    return enqueued;
  }

  private void writeWithOthers(Waiting<J> mine) {
    List<Waiting<J>> batch = new ArrayList<>();
    batch.add(mine);
    synchronized (lock) {
      Waiting<J> next;
      while (batch.size() < BATCH && (next = waiting.poll()) != null) {
        batch.add(next);
      }
    }
    try {
      write(batch);
    } finally {
      Waiting<J> next;
      synchronized (lock) {
        next = waiting.poll();
        if (next == null) {
          writers--;
        }
      }
      if (next != null) {
        next.turn.complete(true);
      }
      batch.forEach(written -> written.turn.complete(false));
    }
  }

  private void write(List<Waiting<J>> batch) {
    try {
      List<Enqueued> enqueued = write.apply(batch.stream().map(each -> each.job).toList());
      for (int i = 0; i < batch.size(); i++) {
        batch.get(i).enqueued = enqueued.get(i);
      }
    } catch (RuntimeException trouble) {
      if (batch.size() == 1) {
        batch.getFirst().trouble = trouble;
      } else {
        // One that cannot be written must not take the others with it.
        batch.forEach(each -> write(List.of(each)));
      }
    } catch (Throwable bug) {
      for (Waiting<J> each : batch) {
        if (!each.isAnswered()) {
          each.trouble = new IllegalStateException("enqueue failed", bug);
        }
      }
      throw bug;
    }
  }
}
