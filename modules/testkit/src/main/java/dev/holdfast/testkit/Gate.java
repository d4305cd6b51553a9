package dev.holdfast.testkit;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets everyone through while it is open. */
final class Gate {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition opened = lock.newCondition();
  private boolean shut;

  void shut() {
    set(true);
  }

  void open() {
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

  void pass() {
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
