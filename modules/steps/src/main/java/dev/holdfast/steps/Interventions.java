package dev.holdfast.steps;

import dev.holdfast.model.LiveControl;
import dev.holdfast.model.LiveControl.Recovery;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What operators ask of one job, as its worker hears of it. */
public final class Interventions {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<Urgent> urgent = new ArrayList<>();
  private LiveControl now = LiveControl.NONE;
  private @Nullable Instant honoured;

  private record Urgent(Predicate<Recovery> concerns, Runnable action) {}

  public void heard(LiveControl control) {
    List<Runnable> toTell;
    lock.lock();
    try {
      if (control.equals(now)) {
        return;
      }
      now = control;
      changed.signalAll();
      toTell = urgent.stream().filter(this::applies).map(Urgent::action).toList();
    } finally {
      lock.unlock();
    }
    toTell.forEach(Runnable::run);
  }

  /** An attempt under way is not waited for: the workspace is wanted, or the step another way. */
  private boolean applies(Urgent urgent) {
    Recovery asked = asked();
    return now.takeover() || (asked != null && urgent.concerns().test(asked));
  }

  /** What is asked and was not yet honoured, once it is such that one can go on. */
  LiveControl await(Predicate<LiveControl> goesOn) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      LiveControl asked = new LiveControl(now.paused(), now.takeover(), asked());
      while (!goesOn.test(asked)) {
        changed.await();
        asked = new LiveControl(now.paused(), now.takeover(), asked());
      }
      return asked;
    } finally {
      lock.unlock();
    }
  }

  boolean isHeldUp() {
    lock.lock();
    try {
      return now.holds();
    } finally {
      lock.unlock();
    }
  }

  /** A step that is to be done again and was not yet. */
  public Optional<Recovery> pending() {
    lock.lock();
    try {
      return Optional.ofNullable(asked());
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Recovery asked() {
    Recovery recovery = now.recovery();
    return recovery == null || recovery.updatedAt().equals(honoured) ? null : recovery;
  }

  /** It is being done: until the database has heard so, it would be asked again. */
  void honour(Recovery recovery) {
    lock.lock();
    try {
      honoured = recovery.updatedAt();
    } finally {
      lock.unlock();
    }
  }

  /** Calls {@code action} when an attempt under way should stop for an operator; at once if so. */
  Runnable whenUrgent(Predicate<Recovery> concerns, Runnable action) {
    Urgent mine = new Urgent(concerns, action);
    boolean already;
    lock.lock();
    try {
      urgent.add(mine);
      already = applies(mine);
    } finally {
      lock.unlock();
    }
    if (already) {
      action.run();
    }
    return () -> forget(mine);
  }

  private void forget(Urgent one) {
    lock.lock();
    try {
      urgent.remove(one);
    } finally {
      lock.unlock();
    }
  }
}
