package dev.holdfast.model.attempt;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which progress of an attempt is written: the first, a higher percentage (the final 100 is one),
 * and any other half a second after the last that was. Both worker protocols go by it.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class ProgressThrottle {
  private static final Duration QUIET = Duration.ofMillis(500);

  private final LongSupplier nanos;
  private boolean begun;
  private int last = -1;
  private long lastAt;

  public ProgressThrottle(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * @param percent null if only the message is new
   */
  public synchronized boolean lets(@Nullable Integer percent) {
    long now = nanos.getAsLong();
    int shown = percent == null ? last : percent;
    if (begun && shown <= last && now - lastAt < QUIET.toNanos()) {
      return false;
    }
    begun = true;
    last = shown;
    lastAt = now;
    return true;
  }
}
