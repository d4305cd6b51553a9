package dev.holdfast.server.background;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Supplier;

/**
 * The database's time, asked now and then and counted on by the monotonic clock between: one clock
 * for leases, tokens and what workers are told, whatever this machine believes.
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
    // It was asked somewhere between before and now; half of it is the likeliest.
    return new Reading(now, before + (System.nanoTime() - before) / 2);
  }

  /** Asks again, when it is time to. */
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
