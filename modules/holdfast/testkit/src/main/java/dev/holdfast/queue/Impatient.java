package dev.holdfast.queue;

import java.time.Duration;

/** For tests in which a worker is refused: the usual timeout only costs time there. */
public final class Impatient {
  private Impatient() {}

  public static void make(JobStore store) {
    store.startTimeout(Duration.ofSeconds(4));
  }
}
