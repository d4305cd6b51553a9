package dev.holdfast.chaos.fault;

import java.util.Random;

/**
 * Something that breaks, and is mended before it returns.
 *
 * @param name as {@code --only} has it
 * @param reach what is gone meanwhile
 * @param need without which it is left out
 */
public record Fault(String name, Reach reach, Strike strike, Need need) {
  Fault(String name, Reach reach, Strike strike) {
    this(name, reach, strike, Need.NOTHING);
  }

  /** What a fault takes away from the others. */
  public enum Reach {
    /** A process: others go on. */
    PROCESS,
    /** The database, for everybody: one such fault at a time. */
    DATABASE,
    /** Nothing: work becomes harder. */
    LOAD
  }

  /** Breaks it. */
  @FunctionalInterface
  public interface Strike {
    /** False when there was nothing to break. */
    boolean on(Target target, Random random) throws Exception;
  }
}
