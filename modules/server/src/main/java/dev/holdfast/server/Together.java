package dev.holdfast.server;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * Does in one go what many threads ask for at the same moment. Nobody waits for company: whoever
 * comes while another one is at it is done next, with all that came meanwhile.
 */
final class Together<Q, A> {
  private static final int BATCH = 500;

  private record Waiting<Q, A>(Q question, CompletableFuture<A> answer) {}

  private final Function<List<Q>, List<A>> ask;
  private final Object lock = new Object();
  private final Queue<Waiting<Q, A>> waiting = new ArrayDeque<>();
  private boolean busy;

  /**
   * @param ask answers each question, in their order
   */
  Together(Function<List<Q>, List<A>> ask) {
    this.ask = ask;
  }

  A ask(Q question) {
    Waiting<Q, A> mine = new Waiting<>(question, new CompletableFuture<>());
    boolean leads;
    synchronized (lock) {
      waiting.add(mine);
      leads = !busy;
      busy = true;
    }
    if (leads) {
      lead(mine);
    }
    try {
      return mine.answer().join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException trouble) {
        throw trouble;
      }
      throw failed;
    }
  }

  /** Until his own is answered; what has come since then is for another one of those who wait. */
  private void lead(Waiting<Q, A> mine) {
    while (true) {
      List<Waiting<Q, A>> batch = new ArrayList<>();
      synchronized (lock) {
        Waiting<Q, A> next;
        while (batch.size() < BATCH && (next = waiting.poll()) != null) {
          batch.add(next);
        }
        if (batch.isEmpty()) {
          busy = false;
          return;
        }
      }
      answer(batch);
      if (mine.answer().isDone()) {
        handOver();
        return;
      }
    }
  }

  private void handOver() {
    Waiting<Q, A> next;
    synchronized (lock) {
      next = waiting.peek();
      if (next == null) {
        busy = false;
        return;
      }
    }
    Thread.ofVirtual().name("holdfast-together").start(() -> lead(next));
  }

  private void answer(List<Waiting<Q, A>> batch) {
    try {
      List<A> answers = ask.apply(batch.stream().map(Waiting::question).toList());
      for (int i = 0; i < batch.size(); i++) {
        batch.get(i).answer().complete(answers.get(i));
      }
    } catch (Throwable trouble) {
      batch.forEach(each -> each.answer().completeExceptionally(trouble));
    }
  }
}
