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
    Thread me = Thread.currentThread();
    long until = Calls.nanoTime() + unit.toNanos(time);
    waiting.add(me);
    try {
      while (true) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (permits > 0) {
          permits--;
          return true;
        }
        long left = until - Calls.nanoTime();
        if (left <= 0) {
          return false;
        }
        Calls.parkNanos(left);
      }
    } finally {
      waiting.remove(me);
    }
  }
}
