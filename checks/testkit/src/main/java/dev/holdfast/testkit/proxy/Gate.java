package dev.holdfast.testkit.proxy;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Lets everyone through while it is open, and keeps everyone for a while if it is slow. */
public final class Gate {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition opened = lock.newCondition();
  private boolean shut;
  private volatile Duration delay = Duration.ZERO;

  public void shut() {
    set(true);
  }

  public void open() {
    set(false);
  }

  /** How long each passage takes from now on. */
  public void slow(Duration each) {
    delay = each;
  }

  private void set(boolean value) {
    lock.lock();
    try {
      shut = value;
      opened.signalAll();
    } finally {
      lock.unlock();
    }
  }

  public void pass() {
    if (!delay.isZero()) {
      LockSupport.parkNanos(delay.toNanos());
    }
    lock.lock();
    try {
      while (shut) {
        opened.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }
}
