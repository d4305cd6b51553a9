package dev.holdfast.model.value;

import java.security.SecureRandom;
import java.time.Clock;
import java.util.UUID;

/**
 * Makes UUIDv7: milliseconds first, so that new ids land at the right edge of an index and read in
 * the order they were made.
 *
 * <p>Ids of one process rise strictly, also within a millisecond and when the clock steps back:
 * jobs enqueued together share one {@code run_at}, and then the id decides which runs first.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Uuid7 {
  private static final int COUNTER_BITS = 12;

  private final Clock clock;
  // Not ThreadLocalRandom: two processes forked from one snapshot must not make the same ids.
  private final SecureRandom random = new SecureRandom();
  private long last; // milliseconds and counter in one number

  public Uuid7(Clock clock) {
    this.clock = clock;
  }

  public UUID next() {
    long tail = (random.nextLong() & 0x3fff_ffff_ffff_ffffL) | 0x8000_0000_0000_0000L;
    return new UUID(head(random.nextInt(1 << (COUNTER_BITS - 1))), tail);
  }

  private synchronized long head(int start) {
    long now = (clock.millis() << COUNTER_BITS) | start;
    // The counter of a busy millisecond simply runs over into the next one.
    last = now >>> COUNTER_BITS > last >>> COUNTER_BITS ? now : last + 1;
    long millis = last >>> COUNTER_BITS;
    long counter = last & ((1 << COUNTER_BITS) - 1);
    return (millis << 16) | 0x7000 | counter;
  }
}
