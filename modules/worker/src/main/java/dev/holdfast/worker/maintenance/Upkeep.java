package dev.holdfast.worker.maintenance;

import dev.holdfast.worker.source.Loop;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Runs periodic tasks, each when it is due, in their order on one thread. One that fails is logged
 * and tried again, and keeps none of the others from running.
 */
public final class Upkeep implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final List<Due> tasks;
  private final LongSupplier nanos;
  private final Loop loop = new Loop("upkeep", this::runDue);

  private static final class Due {
    final Periodic task;
    long at;

    Due(Periodic task, long at) {
      this.task = task;
      this.at = at;
    }
  }

  /** Of tasks that are due at once. */
  public Upkeep(List<Periodic> tasks) {
    this(tasks, System::nanoTime);
  }

  Upkeep(List<Periodic> tasks, LongSupplier nanos) {
    long now = nanos.getAsLong();
    this.tasks = tasks.stream().map(task -> new Due(task, now)).toList();
    this.nanos = nanos;
  }

  public Upkeep start() {
    if (!tasks.isEmpty()) {
      loop.start();
    }
    return this;
  }

  /** Every task that is due now; the answer is how long until the next one is. */
  Duration runDue() {
    for (Due each : tasks) {
      if (each.at - nanos.getAsLong() <= 0) {
        Duration wait = round(each.task);
        each.at = nanos.getAsLong() + wait.toNanos();
      }
    }
    long now = nanos.getAsLong();
    long next =
        tasks.stream().mapToLong(each -> each.at - now).min().orElse(Loop.LONGEST_WAIT.toNanos());
    return Duration.ofNanos(Math.max(0, next));
  }

  private static Duration round(Periodic task) {
    try {
      return task.round().runOnce();
    } catch (Throwable e) {
      // An Error too: a class that an artifact store lacks must not stop the schedules.
      Loop.logFailure(task.name(), e);
      return Loop.jittered(task.retry());
    }
  }

  /** Starts no further round. The current one continues. */
  public void end() {
    loop.end();
  }

  /** True once no round is under way any more, after {@link #end}; false when the time is up. */
  public boolean awaitEnd(Duration atMost) throws InterruptedException {
    return loop.awaitEnd(atMost);
  }

  @Override
  public void close() {
    end();
    try {
      awaitEnd(TIMEOUT);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
