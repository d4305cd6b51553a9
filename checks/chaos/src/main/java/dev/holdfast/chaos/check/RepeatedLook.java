package dev.holdfast.chaos.check;

import java.sql.SQLException;

/** Looks at the database again and again, on a thread of its own. */
final class RepeatedLook {
  /** One look. */
  interface Look {
    void run() throws SQLException;
  }

  private final Look look;
  private final long pauseMillis;
  private final Thread thread;
  private volatile boolean stopped;

  RepeatedLook(String name, long pauseMillis, Look look) {
    this.look = look;
    this.pauseMillis = pauseMillis;
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  private void run() {
    while (!stopped) {
      try {
        look.run();
        Thread.sleep(pauseMillis);
      } catch (SQLException away) {
        // The database is down just now.
      } catch (InterruptedException end) {
        return;
      }
    }
  }

  /** Returns after the last look. */
  void stop() {
    stopped = true;
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
