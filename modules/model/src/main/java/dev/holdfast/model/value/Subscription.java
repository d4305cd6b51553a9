package dev.holdfast.model.value;

/**
 * Calls a worker back with the name of a queue whenever that queue may have work, until it is
 * closed.
 *
 * <p>A call is a hint. Notifications that were sent while the subscription had no connection are
 * lost, so it calls back for each of its queues every time it begins to receive, and the worker
 * polls as well.
 */
public interface Subscription extends AutoCloseable {
  @Override
  void close();
}
