package dev.holdfast.model.value;

import java.util.Locale;

/**
 * A number and what it counts: 1 job, 2 jobs.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Plural {
  private Plural() {}

  public static String of(long number, String one) {
    return of(number, one, one + "s");
  }

  public static String of(long number, String one, String several) {
    return String.format(Locale.ROOT, "%,d %s", number, number == 1 ? one : several);
  }
}
