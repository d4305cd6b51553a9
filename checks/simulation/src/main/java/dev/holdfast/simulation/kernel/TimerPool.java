package dev.holdfast.simulation.kernel;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Stands for {@link java.util.concurrent.ScheduledThreadPoolExecutor}. */
public final class TimerPool extends ThreadPool {
  public TimerPool(int threads, ThreadFactory factory) {
    super(factory);
  }

  public void setRemoveOnCancelPolicy(boolean value) {}

  public void setExecuteExistingDelayedTasksAfterShutdownPolicy(boolean value) {}

  public BlockingQueue<Runnable> getQueue() {
    return new LinkedBlockingQueue<>();
  }

  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    if (isShutdown()) {
      throw new RejectedExecutionException();
    }
    SimulatedProcess process = SimulatedProcess.current();
    Task set = new Task(task);
    set.timer =
        process
            .scheduler()
            .after(
                unit.toNanos(delay),
                () -> {
                  if (!isShutdown() && !set.isCancelled()) {
                    process.start("timer", set);
                  }
                });
    return set;
  }

  private static final class Task extends FutureTask<@Nullable Void>
      implements ScheduledFuture<@Nullable Void> {
    private Scheduler.@Nullable Timer timer;

    Task(Runnable task) {
      super(task, null);
    }

    @Override
    public boolean cancel(boolean interrupt) {
      Scheduler.Timer set = timer;
      if (set != null) {
        set.cancel();
      }
      return super.cancel(interrupt);
    }

    @Override
    public long getDelay(TimeUnit unit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int compareTo(Delayed other) {
      throw new UnsupportedOperationException();
    }
  }
}
