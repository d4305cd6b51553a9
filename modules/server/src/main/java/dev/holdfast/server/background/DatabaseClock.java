package dev.holdfast.server.background;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Supplier;

/**
 * The database's time: read at intervals, and continued by the monotonic clock in between. Leases,
 * tokens and answers all use it, so a wrong clock of this machine has no effect.
 */
public final class DatabaseClock implements InstantSource {
  private static final Duration GOOD_FOR = Duration.ofSeconds(30);

  private record Reading(Instant instant, long nanos) {}

  private final Supplier<Instant> database;
  private volatile Reading last;

  public DatabaseClock(Supplier<Instant> database) {
    this.database = database;
    this.last = read();
  }

  private Reading read() {
    long before = System.nanoTime();
    Instant now = database.get();
    // The database read its clock at some time during the call; the middle is the best guess.
    return new Reading(now, before + (System.nanoTime() - before) / 2);
  }

  /** Reads the database's time again if the last reading is too old. */
  public void refresh() {
    if (System.nanoTime() - last.nanos() > GOOD_FOR.toNanos()) {
      last = read();
    }
  }

  @Override
  public Instant instant() {
    Reading reading = last;
    return reading.instant().plusNanos(System.nanoTime() - reading.nanos());
  }
}
