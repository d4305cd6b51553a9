package dev.holdfast.sdk;

/**
 * How much of the libraries' tests is run: {@code -Dsdk=quick} takes minutes, {@code -Dsdk=full} a
 * quarter of an hour, with all scenarios of the kit. Without either they are skipped.
 */
final class FullForm {
  static final String PROPERTY = "sdk";
  static final String FULL = "full";
  static final String ANY = "quick|full";

  private FullForm() {}

  static boolean isWanted() {
    return FULL.equals(System.getProperty(PROPERTY));
  }
}
