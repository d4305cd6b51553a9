package dev.holdfast.model.value;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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

  /** The last ten bits say in which of several databases the job is. */
  private static final long CELLS = 0x3ff;

  private final Clock clock;
  // Not ThreadLocalRandom: two processes forked from one snapshot must not make the same ids.
  private final SecureRandom random = new SecureRandom();
  private long last; // milliseconds and counter in one number

  public Uuid7(Clock clock) {
    this.clock = clock;
  }

  public UUID next() {
    return new UUID(head(random.nextInt(1 << (COUNTER_BITS - 1))), tail(random.nextLong()));
  }

  /**
   * One that follows from another and a name: it has the milliseconds of the other, so that both
   * lie beside each other in an index.
   */
  public static UUID derived(UUID from, String name) {
    ByteBuffer digest = ByteBuffer.wrap(digest(from, name));
    long head = (from.getMostSignificantBits() & ~0xffffL) | 0x7000 | (digest.getShort() & 0xfff);
    return new UUID(head, tail(digest.getLong(8)));
  }

  /** The database in which the job of an id is. */
  public static int cell(UUID id) {
    return (int) (id.getLeastSignificantBits() & CELLS);
  }

  /** The variant, random bits, and the number of the cell, which is 0 as long as there is one. */
  private static long tail(long bits) {
    return (bits & 0x3fff_ffff_ffff_ffffL & ~CELLS) | 0x8000_0000_0000_0000L;
  }

  private static byte[] digest(UUID from, String name) {
    ByteBuffer id =
        ByteBuffer.allocate(16)
            .putLong(from.getMostSignificantBits())
            .putLong(from.getLeastSignificantBits())
            .flip();
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      sha.update(id);
      return sha.digest(name.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
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
