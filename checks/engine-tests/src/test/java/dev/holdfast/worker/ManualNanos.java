package dev.holdfast.worker;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A monotonic clock that a test advances. Begins just before its overflow, as any may. */
public final class ManualNanos implements LongSupplier {
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000_000);

  @Override
  public long getAsLong() {
    return now.get();
  }

  public void advance(Duration time) {
    now.addAndGet(time.toNanos());
  }
}
