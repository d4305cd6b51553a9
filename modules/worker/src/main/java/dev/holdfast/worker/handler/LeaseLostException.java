package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.Lease;

/** The attempt no longer holds its job, so what it wanted to write was refused. */
public final class LeaseLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public LeaseLostException(Lease lease) {
    super(lease + " no longer holds its job");
  }
}
