package dev.holdfast.worker.steps;

/**
 * Starts what attempts of steps do, beside the threads that watch them.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@FunctionalInterface
public interface StepThreads {
  /** A new thread each time. */
  StepThreads NEW = (name, attempt) -> likeTheCaller().name(name).start(attempt);

  void start(String name, Runnable attempt);

  /** Of the same sort: a step that computes must not block other virtual threads. */
  private static Thread.Builder likeTheCaller() {
    return Thread.currentThread().isVirtual() ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
  }
}
