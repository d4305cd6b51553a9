package dev.holdfast.worker.attempt;

import dev.holdfast.worker.handler.Threads;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads that attempts run on. Those of the system are used again: making one is slow. */
final class HandlerThreads implements AutoCloseable {
  /** A worker with more places than this runs its handlers on virtual threads by default. */
  static final int MOST_PLATFORM = 256;

  private static final long KEPT_SECONDS = 10;

  private final Threads usual;
  private final ThreadPoolExecutor platform =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          KEPT_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          Thread.ofPlatform().daemon().name("holdfast-handler").factory());

  HandlerThreads(int places) {
    this.usual = places > MOST_PLATFORM ? Threads.VIRTUAL : Threads.PLATFORM;
  }

  void start(Threads wanted, String name, Runnable attempt) {
    switch (wanted == Threads.AUTO ? usual : wanted) {
      case VIRTUAL -> Thread.ofVirtual().name(name).start(attempt);
      case PLATFORM, AUTO -> platform.execute(() -> named(name, attempt));
    }
  }

  /** What a handler's thread watches, on one of the same sort: it may be left behind. */
  void startBeside(String name, Runnable step) {
    start(Thread.currentThread().isVirtual() ? Threads.VIRTUAL : Threads.PLATFORM, name, step);
  }

  /** A thread dump says which job it is; a thread without one says that, too. */
  private static void named(String name, Runnable attempt) {
    Thread thread = Thread.currentThread();
    String before = thread.getName();
    thread.setName(name);
    try {
      attempt.run();
    } finally {
      // What one handler left must not hit the next.
      Thread.interrupted();
      thread.setName(before);
    }
  }

  @Override
  public void close() {
    platform.shutdown();
  }
}
