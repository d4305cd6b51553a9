package dev.holdfast.simulation.kernel;

import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Stands for {@link java.util.concurrent.locks.ReentrantLock}. */
public final class Lock {
  private final List<Thread> waiting = new ArrayList<>();
  private @Nullable Thread owner;
  private int holds;

  public void lock() {
    Calls.point();
    acquire();
  }

  /** Without letting another thread run first. */
  void acquire() {
    Thread me = Thread.currentThread();
    boolean interrupted = false;
    while (owner != null && !owner.equals(me)) {
      waiting.add(me);
      LockSupport.park();
      waiting.remove(me);
      // A thread with its interrupt set does not park; it must not spin either.
      interrupted |= Thread.interrupted();
    }
    owner = me;
    holds++;
    if (interrupted) {
      me.interrupt();
    }
  }

  public void lockInterruptibly() throws InterruptedException {
    Calls.point();
    Thread me = Thread.currentThread();
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    while (owner != null && !owner.equals(me)) {
      waiting.add(me);
      LockSupport.park();
      waiting.remove(me);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    owner = me;
    holds++;
  }

  public void unlock() {
    if (!Thread.currentThread().equals(owner)) {
      throw new IllegalMonitorStateException();
    }
    if (--holds == 0) {
      owner = null;
      List.copyOf(waiting).forEach(LockSupport::unpark);
    }
  }

  boolean isFree() {
    return owner == null && waiting.isEmpty();
  }

  public Condition newCondition() {
    return new Signal();
  }

  private final class Signal implements Condition {
    private final List<Thread> sleepers = new ArrayList<>();

    private long waitForSignal(long nanos, boolean timed) throws InterruptedException {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      Thread me = Thread.currentThread();
      long until = Calls.nanoTime() + nanos;
      int held = holds;
      sleepers.add(me);
      holds = 1;
      unlock();
      while (sleepers.contains(me) && !me.isInterrupted()) {
        long left = until - Calls.nanoTime();
        if (timed && left <= 0) {
          break;
        }
        if (timed) {
          Calls.parkNanos(left);
        } else {
          LockSupport.park();
        }
      }
      boolean signalled = !sleepers.remove(me);
      boolean interrupted = Thread.interrupted();
      lock();
      holds = held;
      if (interrupted) {
        if (!signalled) {
          throw new InterruptedException();
        }
        me.interrupt();
      }
      return until - Calls.nanoTime();
    }

    @Override
    public void await() throws InterruptedException {
      long unused = waitForSignal(0, false);
    }

    @Override
    public long awaitNanos(long nanos) throws InterruptedException {
      return waitForSignal(nanos, true);
    }

    @Override
    public boolean await(long time, TimeUnit unit) throws InterruptedException {
      return waitForSignal(unit.toNanos(time), true) > 0;
    }

    @Override
    public void awaitUninterruptibly() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean awaitUntil(Date deadline) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void signal() {
      if (!sleepers.isEmpty()) {
        LockSupport.unpark(sleepers.removeFirst());
      }
    }

    @Override
    public void signalAll() {
      List<Thread> all = List.copyOf(sleepers);
      sleepers.clear();
      all.forEach(LockSupport::unpark);
    }
  }
}
