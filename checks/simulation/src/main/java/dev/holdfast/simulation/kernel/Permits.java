package dev.holdfast.simulation.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Stands for {@link java.util.concurrent.Semaphore}. */
public final class Permits {
  private final List<Thread> waiting = new ArrayList<>();
  private int permits;

  public Permits(int permits) {
    this.permits = permits;
  }

  public void release() {
    Calls.point();
    permits++;
    List.copyOf(waiting).forEach(LockSupport::unpark);
  }

  public int drainPermits() {
    int drained = permits;
    permits = 0;
    return drained;
  }

  public boolean tryAcquire(long time, TimeUnit unit) throws InterruptedException {
    boolean acquired = Calls.await(waiting, () -> permits > 0, unit.toNanos(time));
    permits -= acquired ? 1 : 0;
    return acquired;
  }
}
