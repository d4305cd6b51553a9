package dev.holdfast.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;

/** Starts a server again that ended without being told to, after pauses that grow up to a limit. */
final class Revival implements Runnable {
  private static final Logger LOG = System.getLogger(Revival.class.getName());
  private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
  // A server that ran this long can start.
  private static final Duration HEALTHY = Duration.ofSeconds(10);

  private final Instance instance;

  private Revival(Instance instance) {
    this.instance = instance;
  }

  static void watch(Instance instance) {
    Thread.ofVirtual().name("embedded-postgres-revival").start(new Revival(instance));
  }

  @Override
  public void run() {
    Duration pause = FIRST_PAUSE;
    try {
      while (true) {
        long since = System.nanoTime();
        ProcessHandle.of(instance.running().pid()).ifPresent(process -> process.onExit().join());
        pause = System.nanoTime() - since > HEALTHY.toNanos() ? FIRST_PAUSE : longer(pause);
        Thread.sleep(pause);
        if (!startAgain()) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Duration longer(Duration pause) {
    Duration twice = pause.multipliedBy(2);
    return twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
  }

  /** False when the server was stopped on purpose. */
  private boolean startAgain() {
    try {
      if (!instance.startAgain()) {
        return false;
      }
      LOG.log(Level.WARNING, "the server ended and was started again: " + instance.running());
    } catch (IOException | UncheckedIOException | EmbeddedPostgresException e) {
      LOG.log(Level.ERROR, "the server ended and does not start again yet: " + e.getMessage());
    }
    return true;
  }
}
