package dev.holdfast.simulation.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Stands for {@link java.util.concurrent.CountDownLatch}. */
public final class Latch {
  private final List<Thread> waiting = new ArrayList<>();
  private long count;

  public Latch(int count) {
    this.count = count;
  }

  public void countDown() {
    Calls.point();
    if (count > 0 && --count == 0) {
      List.copyOf(waiting).forEach(LockSupport::unpark);
    }
  }

  public long getCount() {
    return count;
  }

  public void await() throws InterruptedException {
    boolean unused = await(Long.MAX_VALUE / 4, TimeUnit.NANOSECONDS);
  }

  public boolean await(long time, TimeUnit unit) throws InterruptedException {
    return Calls.await(waiting, () -> count == 0, unit.toNanos(time));
  }
}
