package dev.holdfast.steps;

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

/** What operators ask of one job, as heartbeats bring it to the worker. */
public final class ReceivedCommands {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<Urgent> urgent = new ArrayList<>();
  private final List<Step.Request> said = new ArrayList<>();
  private PendingCommand now = PendingCommand.NONE;
  private @Nullable Instant honoured;

  private record Urgent(Predicate<Recovery> concerns, Runnable action) {}

  public void heard(PendingCommand command) {
    List<Runnable> toTell;
    lock.lock();
    try {
      if (command.equals(now)) {
        return;
      }
      noteWhoHolds(command);
      now = command;
      changed.signalAll();
      toTell = urgent.stream().filter(this::applies).map(Urgent::action).toList();
    } finally {
      lock.unlock();
    }
    toTell.forEach(Runnable::run);
  }

  private void noteWhoHolds(PendingCommand command) {
    CommandAction hold = command.hold();
    PendingCommand.HeldBy by = command.heldBy();
    if (hold != null && by != null && (hold != now.hold() || !by.equals(now.heldBy()))) {
      said.add(new Step.Request(hold, by.requestedBy(), by.reason()));
    }
  }

  /**
   * Whether a running attempt must stop: for a takeover, or for a recovery that concerns its step.
   */
  private boolean applies(Urgent urgent) {
    Recovery asked = asked();
    return now.takeover() || (asked != null && urgent.concerns().test(asked));
  }

  /** Waits until what is asked and not yet honoured lets the job go on, and returns it. */
  PendingCommand await(Predicate<PendingCommand> goesOn) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!goesOn.test(unhonoured())) {
        changed.await();
      }
      return unhonoured();
    } finally {
      lock.unlock();
    }
  }

  private PendingCommand unhonoured() {
    return new PendingCommand(now.paused(), now.takeover(), asked(), now.heldBy());
  }

  public boolean isHeldUp() {
    lock.lock();
    try {
      return now.holds();
    } finally {
      lock.unlock();
    }
  }

  /** The recovery that was asked for and not yet honoured. */
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

  /** Marks it as honoured: heartbeats repeat it until the step's report is written. */
  void honour(Recovery recovery) {
    lock.lock();
    try {
      honoured = recovery.updatedAt();
      said.add(new Step.Request(recovery.action(), recovery.requestedBy(), recovery.reason()));
    } finally {
      lock.unlock();
    }
  }

  /**
   * What held the job up or was honoured since this was asked last, for the attempt that begins.
   */
  List<Step.Request> said() {
    lock.lock();
    try {
      List<Step.Request> all = List.copyOf(said);
      said.clear();
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
