package dev.holdfast.app.setting;

import org.jspecify.annotations.Nullable;

/** Thrown by the constructor of a section for values that are right by themselves. */
public final class ContradictionException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String component;
  private final String expected;
  private final String other;

  /**
   * @param component whose value is wrong
   * @param expected what would be right; {} is the other setting and its value
   * @param other the component that it contradicts
   */
  public ContradictionException(String component, String expected, String other) {
    this.component = component;
    this.expected = expected;
    this.other = other;
  }

  String component() {
    return component;
  }

  String expected() {
    return expected;
  }

  String other() {
    return other;
  }

  @Override
  public @Nullable String getMessage() {
    return component + ": " + expected.replace("{}", other) + " is expected";
  }
}
