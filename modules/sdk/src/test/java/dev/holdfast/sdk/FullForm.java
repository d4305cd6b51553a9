package dev.holdfast.sdk;

/**
 * Whether the whole tests of the libraries and all scenarios of the kit are run, with {@code
 * -Dsdk.full=true}. They take a quarter of an hour; by default their quick forms are run.
 */
final class FullForm {
  static final String PROPERTY = "sdk.full";

  private FullForm() {}

  static boolean isWanted() {
    return Boolean.getBoolean(PROPERTY);
  }
}
