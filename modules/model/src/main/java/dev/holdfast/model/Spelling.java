package dev.holdfast.model;

/** How far two words are apart, for "did you mean". */
public final class Spelling {
  private Spelling() {}

  public static int distance(String a, String b) {
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
      }
      before = row;
    }
    return before[b.length()];
  }
}
