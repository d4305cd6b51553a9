package dev.holdfast.workspace.git;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** One at a time, among the threads of this process and among processes. */
final class FileMutex {
  private static final long LOOK_MILLIS = 20;

  // The system's lock belongs to the process, and closing any channel of the file gives it up: so
  // no two threads of ours may have the file open.
  private static final Map<Path, ReentrantLock> OURS = new ConcurrentHashMap<>();

  /** Runs while no other holder of the lock does. */
  @FunctionalInterface
  interface Work<T> {
    T done() throws IOException;
  }

  private interface Attempt {
    boolean succeeds() throws IOException, InterruptedException;
  }

  private FileMutex() {}

  /** Waits as long as it takes; {@code look} may end the waiting by throwing. */
  static <T> T holding(Path file, Runnable look, Work<T> work) throws IOException {
    ReentrantLock ours = OURS.computeIfAbsent(file.toAbsolutePath(), any -> new ReentrantLock());
    until(look, () -> ours.tryLock(LOOK_MILLIS, TimeUnit.MILLISECONDS));
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      until(look, () -> isLocked(channel));
      return work.done();
    } finally {
      ours.unlock();
    }
  }

  private static boolean isLocked(FileChannel channel) throws IOException, InterruptedException {
    FileLock lock = channel.tryLock();
    if (lock == null) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    }
    return lock != null;
  }

  private static void until(Runnable look, Attempt attempt) throws IOException {
    boolean done = false;
    while (!done) {
      look.run();
      try {
        done = attempt.succeeds();
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
