package dev.holdfast.process;

/** Gets a program's output line by line, each stream on a thread of its own. */
@FunctionalInterface
public interface LineListener {
  /**
   * @param cut how many bytes of the line were dropped because it was too long
   */
  void line(String text, long cut);

  /** Something was read, even if no whole line yet. */
  default void heard() {}
}
