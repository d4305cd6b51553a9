package dev.holdfast.supervisor;

import dev.holdfast.process.Companion;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends a process: first by the command 'stop', then by SIGTERM, then by SIGKILL. */
final class StopEscalation {
  private static final Logger log = LoggerFactory.getLogger(StopEscalation.class);

  private final String component;
  private final SupervisorOptions options;
  private final Companion process;
  private boolean terminated;
  private long nextAt;

  private StopEscalation(
      String component, SupervisorOptions options, Companion process, long nextAt) {
    this.component = component;
    this.options = options;
    this.process = process;
    this.nextAt = nextAt;
  }

  static StopEscalation begin(
      String component, SupervisorOptions options, Companion process, long now) {
    process.send("stop");
    return new StopEscalation(
        component, options, process, now + options.stop().plus(SupervisorOptions.ENDING).toNanos());
  }

  /** Whether a signal was due and has been sent. */
  boolean escalate(long now) {
    if (now - nextAt < 0) {
      return false;
    }
    if (terminated) {
      log.warn("{} (pid {}) ignores SIGTERM: sending SIGKILL", component, process.pid());
      process.kill();
    } else {
      log.warn("{} (pid {}) takes too long to stop: sending SIGTERM", component, process.pid());
      process.terminate();
      terminated = true;
    }
    nextAt = now + options.terminate().toNanos();
    return true;
  }
}
