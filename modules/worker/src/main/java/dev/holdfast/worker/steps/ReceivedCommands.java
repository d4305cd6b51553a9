package dev.holdfast.worker.steps;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.PendingCommand.Recovery;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Commands of operators for one job, as heartbeats bring them to the worker. */
public final class ReceivedCommands {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<Urgent> urgent = new ArrayList<>();
  private final List<Step.Request> requests = new ArrayList<>();
  private PendingCommand now = PendingCommand.NONE;
  private @Nullable Instant handled;

  private record Urgent(Predicate<Recovery> concerns, Runnable action) {}

  public void onCommand(PendingCommand command) {
    List<Runnable> actions;
    lock.lock();
    try {
      if (command.equals(now)) {
        return;
      }
      addHoldRequest(command);
      now = command;
      changed.signalAll();
      actions = urgent.stream().filter(this::applies).map(Urgent::action).toList();
    } finally {
      lock.unlock();
    }
    actions.forEach(Runnable::run);
  }

  private void addHoldRequest(PendingCommand command) {
    CommandAction hold = command.hold();
    PendingCommand.HeldBy by = command.heldBy();
    if (hold != null && by != null && (hold != now.hold() || !by.equals(now.heldBy()))) {
      requests.add(new Step.Request(hold, by.requestedBy(), by.reason()));
    }
  }

  /**
   * Whether a running attempt must stop: for a takeover, or for a recovery that concerns its step.
   */
  private boolean applies(Urgent urgent) {
    Recovery asked = asked();
    return now.takeover() || (asked != null && urgent.concerns().test(asked));
  }

  /** Waits until the pending commands let the job continue, and returns them. */
  PendingCommand await(Predicate<PendingCommand> mayContinue) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!mayContinue.test(unhandled())) {
        changed.await();
      }
      return unhandled();
    } finally {
      lock.unlock();
    }
  }

  private PendingCommand unhandled() {
    return new PendingCommand(now.paused(), now.takeover(), asked(), now.heldBy());
  }

  public boolean isHeld() {
    lock.lock();
    try {
      return now.holds();
    } finally {
      lock.unlock();
    }
  }

  /** The recovery that was requested and is not handled yet. */
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
    return recovery == null || recovery.updatedAt().equals(handled) ? null : recovery;
  }

  /** Marks it as handled: heartbeats repeat it until the step's report is written. */
  void markHandled(Recovery recovery) {
    lock.lock();
    try {
      handled = recovery.updatedAt();
      requests.add(new Step.Request(recovery.action(), recovery.requestedBy(), recovery.reason()));
    } finally {
      lock.unlock();
    }
  }

  /**
   * The requests that held the job or were handled since the last call, for the attempt that
   * begins.
   */
  List<Step.Request> takeRequests() {
    lock.lock();
    try {
      List<Step.Request> all = List.copyOf(requests);
      requests.clear();
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** Calls {@code action} when a running attempt should stop for an operator; maybe at once. */
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
