package dev.holdfast.testkit;

/**
 * How often a test does the same thing: often enough to notice a fault that is there, or, with
 * {@code ./test --release}, often enough to meet a rare one.
 */
public final class Extent {
  private static final boolean ALL = Boolean.getBoolean("holdfast.test.all");
  private static final boolean RELEASE = Boolean.getBoolean("holdfast.test.release");

  private Extent() {}

  /** With {@code ./test --all}. */
  public static boolean isAll() {
    return ALL;
  }

  public static boolean isRelease() {
    return RELEASE;
  }

  public static int of(int usual, int release) {
    return RELEASE ? release : usual;
  }
}
