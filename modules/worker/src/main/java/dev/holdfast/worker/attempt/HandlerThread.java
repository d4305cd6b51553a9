package dev.holdfast.worker.attempt;

import org.jspecify.annotations.Nullable;

/** The thread that runs an attempt's handler, for as long as it may be interrupted. */
final class HandlerThread {
  private @Nullable Thread thread;

  /** Throws when the attempt was stopped before: then the handler does not begin. */
  synchronized void enter(StopSignal stop) {
    stop.check();
    thread = Thread.currentThread();
  }

  /** After this no interrupt comes: it would hit the worker's own work. */
  synchronized void leave() {
    thread = null;
    Thread.interrupted();
  }

  synchronized void interrupt() {
    if (thread != null) {
      thread.interrupt();
    }
  }

  /** Whether the calling thread is the one that runs the handler. */
  synchronized boolean isCurrent() {
    return Thread.currentThread().equals(thread);
  }

  /** Whether the handler runs, abandoned or not. */
  synchronized boolean isRunning() {
    return thread != null;
  }
}
