package dev.holdfast.queue.jdbc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Combines what several threads ask for at the same moment: one statement, one commit, one flush of
 * the log for all. Each call returns once its own part is durable.
 *
 * <p>A single caller does not wait. Calls that come while a batch is written form the next batch.
 * The callers of a batch are likely to call again at once; so the first of them waits a moment
 * until as many have called as were in the last batch. Waiting for three quarters of them instead
 * split eight callers into batches of three, at twice the cost for the server.
 */
public final class GroupCommit<Q, A> {
  private static final int BATCH = 500;
  private static final long GATHER_NANOS = 1_000_000;

  /** So few save less in one batch than they lose by waiting for each other. */
  private static final int ALONE = 2;

  private final int most;
  private final Function<List<Q>, List<A>> ask;
  private final Object lock = new Object();
  private final Queue<Waiting<Q, A>> waiting = new ArrayDeque<>();
  private int leaders;
  private int enough = 1;
  private @Nullable Thread gathering;

  /**
   * @param most so many batches at once
   * @param ask answers each question, in their order; all of them or none
   */
  public GroupCommit(int most, Function<List<Q>, List<A>> ask) {
    this.most = most;
    this.ask = ask;
  }

  /** One caller with its question. It is woken when it is to lead, or has been answered. */
  private static final class Waiting<Q, A> {
    final Q question;
    final CompletableFuture<Boolean> turn = new CompletableFuture<>();
    volatile @Nullable A answer;
    volatile @Nullable RuntimeException error;

    Waiting(Q question) {
      this.question = question;
    }

    boolean isAnswered() {
      return answer != null || error != null;
    }
  }

  public A ask(Q question) {
    Waiting<Q, A> mine = new Waiting<>(question);
    if (leadsAtOnce(mine) || mine.turn.join()) {
      lead(mine);
    }
    RuntimeException error = mine.error;
    if (error != null) {
      throw error;
    }
    A answer = mine.answer;
    if (answer == null) {
      throw new IllegalStateException(question + " has not been answered");
    }
    return answer;
  }

  private boolean leadsAtOnce(Waiting<Q, A> mine) {
    synchronized (lock) {
      if (gathering == null && leaders < most) {
        leaders++;
        return true;
      }
      waiting.add(mine);
      if (waiting.size() + 1 >= enough) {
        LockSupport.unpark(gathering);
      }
      return false;
    }
  }

  private void lead(Waiting<Q, A> mine) {
    List<Waiting<Q, A>> batch = gathered(mine);
    try {
      answer(batch);
    } finally {
      Waiting<Q, A> next;
      synchronized (lock) {
        next = waiting.poll();
        if (next == null) {
          leaders--;
        }
      }
      if (next != null) {
        next.turn.complete(true);
      }
      batch.forEach(answered -> answered.turn.complete(false));
    }
  }

  private List<Waiting<Q, A>> gathered(Waiting<Q, A> mine) {
    gather();
    List<Waiting<Q, A>> batch = new ArrayList<>();
    batch.add(mine);
    synchronized (lock) {
      Waiting<Q, A> next;
      while (batch.size() < BATCH && (next = waiting.poll()) != null) {
        batch.add(next);
      }
      enough = batch.size() > ALONE ? batch.size() : 1;
    }
    return batch;
  }

  /** One at a time: two would wait for each other's company. */
  private void gather() {
    synchronized (lock) {
      if (gathering != null) {
        return;
      }
      gathering = Thread.currentThread();
    }
    long until = System.nanoTime() + GATHER_NANOS;
    while (!isEnough() && System.nanoTime() < until) {
      LockSupport.parkNanos(until - System.nanoTime());
    }
    synchronized (lock) {
      gathering = null;
    }
  }

  private boolean isEnough() {
    synchronized (lock) {
      return waiting.size() + 1 >= enough;
    }
  }

  private void answer(List<Waiting<Q, A>> batch) {
    try {
      List<A> answers = ask.apply(batch.stream().map(each -> each.question).toList());
      for (int i = 0; i < batch.size(); i++) {
        batch.get(i).answer = answers.get(i);
      }
    } catch (RuntimeException e) {
      if (batch.size() == 1) {
        batch.getFirst().error = e;
      } else {
        // One that cannot be done must not take the others with it.
        batch.forEach(each -> answer(List.of(each)));
      }
    } catch (Throwable bug) {
      for (Waiting<Q, A> each : batch) {
        if (!each.isAnswered()) {
          each.error = new IllegalStateException("this batch failed", bug);
        }
      }
      throw bug;
    }
  }
}
