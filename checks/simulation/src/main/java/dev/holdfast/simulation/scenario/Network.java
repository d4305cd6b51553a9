package dev.holdfast.simulation.scenario;

import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.kernel.SimulatedProcess;
import dev.holdfast.simulation.queue.Interpreter;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The way from processes to the database: slow, lossy, cut. */
final class Network {
  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000_000;

  private final Scheduler scheduler;
  private final Random random;
  private final Observer observer;
  private final SimulatedProcess database;
  private final Map<String, Long> cutUntil = new HashMap<>();
  private final Map<String, Long> hangsUntil = new HashMap<>();
  private long allCutUntil;
  private long slowUntil;
  private double lossy;

  Network(Scheduler scheduler, Observer observer) {
    this.scheduler = scheduler;
    this.random = scheduler.random();
    this.observer = observer;
    this.database = new SimulatedProcess(scheduler, "database", 0);
  }

  /**
   * @param chance of a call that its request, or its answer, is lost
   */
  void lossy(double chance) {
    lossy = chance;
  }

  boolean isLossy() {
    return lossy > 0;
  }

  void cutAll(Duration time) {
    allCutUntil = Math.max(allCutUntil, scheduler.now() + time.toNanos());
  }

  void cut(String process, Duration time) {
    cutUntil.merge(process, scheduler.now() + time.toNanos(), Math::max);
  }

  void slow(Duration time) {
    slowUntil = Math.max(slowUntil, scheduler.now() + time.toNanos());
  }

  boolean isCut(String process) {
    return isAllCut() || scheduler.now() < cutUntil.getOrDefault(process, 0L);
  }

  boolean isAllCut() {
    return scheduler.now() < allCutUntil;
  }

  /** When a process gives up the last call that it made while it was cut off. */
  long hangsUntil(String process) {
    return hangsUntil.getOrDefault(process, Long.MIN_VALUE);
  }

  /** Something that happens in the database itself. */
  Runnable inDatabase(Runnable what) {
    return () -> database.start("server", what);
  }

  private long latency() {
    if (scheduler.now() < slowUntil) {
      return MILLI + random.nextLong(800 * MILLI);
    }
    return random.nextInt(200) == 0
        ? random.nextLong(500 * MILLI)
        : 50 * MICRO + random.nextLong(2 * MILLI);
  }

  private static void travel(long nanos) {
    // Not interruptible: a statement that was sent is waited for.
    long until = System.nanoTime() + nanos;
    boolean interrupted = Thread.interrupted();
    for (long left = nanos; left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private enum Fate {
    ARRIVES,
    REQUEST_LOST,
    ANSWER_LOST,
    ARRIVES_LATE
  }

  private Fate fate() {
    return random.nextDouble() >= lossy
        ? Fate.ARRIVES
        : Fate.values()[1 + random.nextInt(Fate.values().length - 1)];
  }

  <A> A call(String process, Verb<A> verb, Interpreter queue) {
    return call(process, verb.name(), () -> queue.call(verb));
  }

  /** Carries out a call of the database for a process. */
  <T> T call(String process, String verb, Supplier<T> effect) {
    travel(latency());
    if (isCut(process)) {
      // Refused at once, or not answered before the client gives up.
      long wait = random.nextBoolean() ? 0 : random.nextLong(8_000 * MILLI);
      hangsUntil.merge(process, scheduler.now() + wait, Math::max);
      travel(wait);
      throw new SourceUnavailableException("the database does not answer", lost());
    }
    Fate fate = fate();
    @Nullable T answer = null;
    switch (fate) {
      case ARRIVES, ANSWER_LOST -> answer = effect.get();
      case REQUEST_LOST -> {}
      case ARRIVES_LATE ->
          // The client has given up, and the server carries it out all the same.
          scheduler.after(
              random.nextLong(6_000 * MILLI),
              () -> {
                if (!isAllCut()) {
                  observer.count("call carried out late");
                  database.start(
                      "late",
                      () -> {
                        T unused = effect.get();
                      });
                }
              });
    }
    if (fate != Fate.ARRIVES) {
      observer.count("answer lost");
      observer.note("%s: %s", verb, fate);
      travel(random.nextLong(3_000 * MILLI));
      throw new SourceUnavailableException("the answer was lost", lost());
    }
    travel(latency());
    if (isCut(process)) {
      observer.count("answer lost");
      throw new SourceUnavailableException("the connection was cut before the answer", lost());
    }
    return java.util.Objects.requireNonNull(answer);
  }

  private static Throwable lost() {
    return new java.io.IOException("lost");
  }
}
