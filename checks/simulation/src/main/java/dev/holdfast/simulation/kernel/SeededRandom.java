package dev.holdfast.simulation.kernel;

import java.util.random.RandomGenerator;

/**
 * Stands for {@link java.util.concurrent.ThreadLocalRandom} and {@link java.security.SecureRandom}:
 * draws from the seed of the run.
 */
public final class SeededRandom implements RandomGenerator {
  private static final SeededRandom INSTANCE = new SeededRandom();

  public SeededRandom() {}

  public static SeededRandom current() {
    return INSTANCE;
  }

  @Override
  public long nextLong() {
    return SimulatedProcess.current().scheduler().random().nextLong();
  }
}
