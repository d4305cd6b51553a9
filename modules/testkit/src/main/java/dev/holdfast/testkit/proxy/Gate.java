package dev.holdfast.testkit.proxy;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets everyone through while it is open. */
public final class Gate {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition opened = lock.newCondition();
  private boolean shut;

  public void shut() {
    set(true);
  }

  public void open() {
    set(false);
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
