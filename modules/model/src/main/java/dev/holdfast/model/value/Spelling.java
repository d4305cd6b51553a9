package dev.holdfast.model.value;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/**
 * Suggests a known name for a misspelled one.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Spelling {
  private Spelling() {}

  /**
   * The nearest of the names, if at most a third of the word would have to change; else one that
   * begins with it.
   */
  public static Optional<String> nearest(String word, Collection<String> names) {
    return names.stream()
        .min(Comparator.comparingInt(name -> distance(word, name)))
        .filter(name -> distance(word, name) <= Math.max(1, word.length() / 3))
        .or(
            () ->
                names.stream()
                    .filter(name -> word.length() > 1 && name.startsWith(word))
                    .findFirst());
  }

  /** How many letters are missing, too many, wrong, or swapped with their neighbour. */
  public static int distance(String a, String b) {
    int[] twoBefore = new int[b.length() + 1];
    int[] before = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      before[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = before[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(change, Math.min(before[j], row[j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          row[j] = Math.min(row[j], twoBefore[j - 2] + 1);
        }
      }
      twoBefore = before;
      before = row;
    }
    return before[b.length()];
  }
}
