package dev.holdfast.process;

import java.time.Duration;
import java.util.Arrays;

/**
 * Waits until the JDK has drained the pipes of a program that exited. Its thread "process reaper"
 * moves what is left in them to buffers, and closes them; a read in between meets the end of a
 * stream whose last lines are about to be there again.
 */
final class PipeDrain {
  private static final Duration LONGEST = Duration.ofSeconds(10);

  private PipeDrain() {}

  /** Returns when the program has exited and its output is all in place. */
  static void await(Process process) {
    String name = "process reaper (pid " + process.pid() + ")";
    ProcessTree.uninterruptibly(process::waitFor);
    long until = System.nanoTime() + LONGEST.toNanos();
    while (isRunning(name) && System.nanoTime() < until) {
      ProcessTree.uninterruptibly(
          () -> {
            Thread.sleep(1);
            return true;
          });
    }
  }

  private static boolean isRunning(String name) {
    ThreadGroup all = Thread.currentThread().getThreadGroup();
    while (all.getParent() != null) {
      all = all.getParent();
    }
    Thread[] threads = new Thread[all.activeCount() * 2 + 16];
    int count = all.enumerate(threads);
    return Arrays.stream(threads, 0, count).anyMatch(thread -> thread.getName().equals(name));
  }
}
