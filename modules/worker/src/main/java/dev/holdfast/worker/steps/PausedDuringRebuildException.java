package dev.holdfast.worker.steps;

/**
 * An operator paused the job while its workspace was being rebuilt; the rebuild continues later.
 */
public final class PausedDuringRebuildException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public PausedDuringRebuildException() {
    super("paused while the workspace was being rebuilt", null, false, false);
  }
}
