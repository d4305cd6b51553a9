package dev.holdfast.supervisor;

import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.process.Companion;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims the name of a supervisor, of which only one may run. The name of one that has ended is
 * taken over, and worker processes that it left behind are ended.
 */
final class NameClaim {
  private static final Logger log = LoggerFactory.getLogger(NameClaim.class);
  private static final long POLL_MILLIS = 20;
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(5);

  private final WorkerRegistry registry;
  private final SupervisorOptions options;
  private final JobRecovery recovery;
  private final Supervisors.Supervising self;

  NameClaim(WorkerRegistry registry, SupervisorOptions options, JobRecovery recovery) {
    this.registry = registry;
    this.options = options;
    this.recovery = recovery;
    this.self =
        new Supervisors.Supervising(
            options.name(),
            Machine.name(),
            ProcessHandle.current().pid(),
            ProcessHandle.current().info().startInstant().orElse(Instant.EPOCH));
  }

  void claim() {
    Optional<Supervisors.Known> known = registry.supervisors().find(options.name());
    boolean claimed = known.isEmpty() ? registry.supervisors().appear(self) : takeOver(known.get());
    if (!claimed) {
      throw new SupervisorRunsException(
          "a supervisor named '%s' is running%s: stop it, or give this one another name with HOLDFAST_SUPERVISOR_NAME"
              .formatted(
                  options.name(),
                  known
                      .map(Supervisors.Known::supervising)
                      .map(other -> " (pid " + other.pid() + " on " + other.host() + ")")
                      .orElse("")));
    }
  }

  private boolean takeOver(Supervisors.Known known) {
    Supervisors.Supervising other = known.supervising();
    boolean here = other.host().equals(self.host());
    boolean ended =
        here
            ? !Companion.isAlive(other.pid(), other.processStartedAt())
            : known.silentFor().compareTo(options.silence()) > 0;
    boolean taken = ended && registry.supervisors().replace(other, self);
    if (taken && here) {
      endOrphans();
    }
    return taken;
  }

  /** They end by themselves when their supervisor is gone; those that hang are killed. */
  private void endOrphans() {
    long until = System.nanoTime() + options.stop().plus(SupervisorOptions.ENDING).toNanos();
    for (WorkerHealth row : registry.readings().of(options.name())) {
      Long pid = row.pid();
      Instant startedAt = row.processStartedAt();
      if (pid == null || startedAt == null) {
        continue;
      }
      if (Companion.isAlive(pid, startedAt)) {
        log.info("{} (pid {}) of an earlier supervisor still runs: waiting", row.component(), pid);
      }
      awaitExit(pid, startedAt, until);
      if (Companion.killIfSame(pid, startedAt)) {
        log.warn("{} (pid {}) did not end by itself and was killed", row.component(), pid);
        awaitExit(pid, startedAt, System.nanoTime() + KILL_TIMEOUT.toNanos());
      }
      recovery.requeue(row.component(), pid, "its supervisor ended, and so did the process");
    }
  }

  private static void awaitExit(long pid, Instant startedAt, long until) {
    try {
      while (Companion.isAlive(pid, startedAt) && System.nanoTime() < until) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Reports that this supervisor runs; false when another one has taken the name. */
  boolean renew() {
    return registry.supervisors().watching(self);
  }

  void release() {
    registry.supervisors().leave(self);
  }
}
