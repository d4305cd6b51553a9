package dev.holdfast.queue;

import static dev.holdfast.testkit.Soon.SOON;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** Runs the same thing in several threads that start at the same moment. */
public final class Parallel {
  private Parallel() {}

  /** What each thread came to; whatever one of them threw is thrown here. */
  public static <T> List<T> run(int threads, IntFunction<Callable<T>> work) {
    CyclicBarrier start = new CyclicBarrier(threads);
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Future<T>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        Callable<T> one = work.apply(i);
        running.add(
            pool.submit(
                () -> {
                  start.await(SOON.toSeconds(), TimeUnit.SECONDS);
                  return one.call();
                }));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> future : running) {
        results.add(get(future));
      }
      return results;
    }
  }

  public static <T> T get(Future<T> future) {
    try {
      return future.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException failed) {
      throw new AssertionError(failed.getCause());
    } catch (Exception stuck) {
      throw new AssertionError(stuck);
    }
  }
}
