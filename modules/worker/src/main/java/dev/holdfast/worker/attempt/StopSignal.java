package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.worker.handler.Attachment;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.JobContext;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether and why a handler should stop. {@link #set} makes it visible to the handler, {@link
 * #fire} calls the handler's callbacks and ends what it has attached.
 */
final class StopSignal {
  private static final Logger log = LoggerFactory.getLogger(StopSignal.class);

  private final Lease lease;
  private final Attachments attachments;
  private final List<Runnable> callbacks = new ArrayList<>();
  private volatile @Nullable StopReason reason;
  private volatile boolean ended;

  StopSignal(Lease lease) {
    this.lease = lease;
    this.attachments = new Attachments(lease);
  }

  /**
   * False when the handler was asked to stop before; then the reason that outranks the other stays.
   */
  boolean set(StopReason why) {
    synchronized (callbacks) {
      StopReason before = reason;
      if (before == null || why.outranks(before)) {
        reason = why;
      }
      return before == null;
    }
  }

  @Nullable StopReason reason() {
    return reason;
  }

  boolean isSet() {
    return reason != null;
  }

  boolean isLeaseLost() {
    return reason instanceof StopReason.LeaseLost;
  }

  void check() {
    StopReason why = reason;
    if (why != null) {
      throw new CancelledException(why.text());
    }
  }

  void onCancel(Runnable action) {
    synchronized (callbacks) {
      if (reason == null) {
        callbacks.add(action);
        return;
      }
    }
    run(action);
  }

  JobContext.Attached attach(Attachment external) {
    return attachments.attach(external, () -> ended || isSet());
  }

  void fire() {
    List<Runnable> actions;
    synchronized (callbacks) {
      actions = List.copyOf(callbacks);
      callbacks.clear();
    }
    if (!actions.isEmpty()) {
      start(() -> actions.forEach(this::run));
    }
    StopReason why = reason;
    if (why != null && why.isLossOfLease()) {
      kill();
    } else if (!attachments.isEmpty()) {
      start(attachments::terminate);
    }
  }

  /** Another attempt may be running already. */
  void kill() {
    if (!attachments.isEmpty()) {
      start(attachments::kill);
    }
  }

  /** Kills what is attached, then runs the action. */
  void killThen(Runnable next) {
    if (attachments.isEmpty()) {
      next.run();
    } else {
      start(
          () -> {
            attachments.kill();
            next.run();
          });
    }
  }

  /** The attempt has ended: nothing may stay attached, nor be attached any more. */
  void end() {
    ended = true;
    kill();
  }

  /**
   * Callbacks may block, so they get a thread. Not a virtual one: handlers that compute on every
   * core would keep it from running, and may be what it is to stop.
   */
  private void start(Runnable action) {
    String name = "cancel-" + lease;
    try {
      Thread.ofPlatform().daemon().name(name).start(action);
    } catch (OutOfMemoryError noThreadLeft) {
      Thread.ofVirtual().name(name).start(action);
    }
  }

  private void run(Runnable action) {
    try {
      action.run();
    } catch (Throwable thrown) {
      log.warn("{}: a cancel callback failed", lease, thrown);
    }
  }
}
