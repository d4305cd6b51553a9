package dev.holdfast.simulation.kernel;

import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Stands for {@link java.util.concurrent.ThreadPoolExecutor}: a new thread for every task. */
public class ThreadPool extends AbstractExecutorService {
  private final ThreadFactory threads;
  private int running;
  private boolean shutdown;

  ThreadPool(ThreadFactory threads) {
    this.threads = threads;
  }

  public ThreadPool(
      int core,
      int most,
      long keepAlive,
      TimeUnit unit,
      BlockingQueue<Runnable> queue,
      ThreadFactory threads) {
    this(threads);
  }

  @Override
  public void execute(Runnable task) {
    if (shutdown) {
      throw new RejectedExecutionException();
    }
    running++;
    threads
        .newThread(
            () -> {
              try {
                task.run();
              } finally {
                running--;
              }
            })
        .start();
  }

  @Override
  public void shutdown() {
    shutdown = true;
  }

  @Override
  public List<Runnable> shutdownNow() {
    shutdown = true;
    return List.of();
  }

  @Override
  public boolean isShutdown() {
    return shutdown;
  }

  @Override
  public boolean isTerminated() {
    return shutdown && running == 0;
  }

  @Override
  public boolean awaitTermination(long time, TimeUnit unit) throws InterruptedException {
    long until = Calls.nanoTime() + unit.toNanos(time);
    while (!isTerminated() && Calls.nanoTime() - until < 0) {
      Calls.sleep(10);
    }
    return isTerminated();
  }
}
