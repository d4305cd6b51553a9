package dev.holdfast.testkit;

/**
 * How often a test does the same thing: often enough to notice a fault that is there, or, with
 * {@code ./test --all}, often enough to meet a rare one.
 */
public final class Extent {
  private static final boolean ALL = Boolean.getBoolean("holdfast.test.all");

  private Extent() {}

  public static boolean isAll() {
    return ALL;
  }

  public static int of(int usual, int all) {
    return ALL ? all : usual;
  }
}
