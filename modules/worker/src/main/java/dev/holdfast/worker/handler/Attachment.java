package dev.holdfast.worker.handler;

/**
 * Something outside of the handler's thread that must end with its attempt: a program, a container,
 * a remote session. See {@link JobContext#attach}.
 */
public interface Attachment {
  /** Asks it to end. The handler should stop and still holds the job. */
  void terminate();

  /**
   * Ends it by force and returns when it has ended, within seconds: the attempt is settled after
   * that. May be called more than once, and while {@link #terminate} is under way.
   */
  void kill();
}
