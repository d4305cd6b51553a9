package dev.holdfast.worker.steps;

import dev.holdfast.model.command.PendingCommand.Recovery;

/** An operator wants to continue at another step than the current one. */
public final class RedirectException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Recovery recovery;

  RedirectException(Recovery recovery) {
    super(recovery.action().text() + " " + recovery.stepId(), null, false, false);
    this.recovery = recovery;
  }

  public Recovery recovery() {
    return recovery;
  }
}
