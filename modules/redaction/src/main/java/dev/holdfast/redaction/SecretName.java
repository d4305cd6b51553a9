package dev.holdfast.redaction;

import java.util.List;
import java.util.Locale;

/** What a name says about its value. */
enum SecretName {
  /** Nothing. */
  ORDINARY,
  /** The value is secret, whatever it looks like. */
  PASSWORD,
  /** The value is secret, but the word is used in prose and in code too. */
  SECRET,
  /** The value is secret if it looks like that: {@code auth}, {@code pass}. */
  MAYBE,
  /** The header: a scheme, then the secret. */
  AUTHORIZATION,
  /** The header: names with values, and all of these are secret. */
  COOKIE;

  /** Parts of words, in lower case: whatever is secret contains one of them. */
  static final List<String> TRIGGERS =
      List.of("pass", "pwd", "secret", "token", "cred", "auth", "key", "cookie");

  private static final List<String> PASSWORDS =
      List.of("password", "passwd", "passphrase", "passcode", "pwd", "storepass", "keypass");
  private static final List<String> SECRETS =
      List.of("secret", "token", "credential", "credentials");
  private static final List<String> KEYS =
      List.of(
          "api",
          "access",
          "secret",
          "private",
          "account",
          "auth",
          "encryption",
          "signing",
          "master",
          "storage",
          "session",
          "shared",
          "license",
          "deploy",
          "service",
          "ssh",
          "app",
          "jwt",
          "client");
  private static final List<String> MAYBES = List.of("pass", "auth", "cred", "creds");
  private static final List<String> MEANINGLESS_ENDS =
      List.of("_value", "_base64", "_b64", "_old", "_new", "_plain", "_text", "_data");

  /** Decided by its last words: a token_count is a count. */
  static SecretName of(CharSequence name) {
    String words = essence(words(name));
    if (words.endsWith("authorization")) {
      return AUTHORIZATION;
    }
    if (words.endsWith("cookie")) {
      return COOKIE;
    }
    if (endsWithAny(words, PASSWORDS)) {
      return PASSWORD;
    }
    if (endsWithAny(words, SECRETS) || isKey(words)) {
      return SECRET;
    }
    for (String maybe : MAYBES) {
      if (words.equals(maybe) || words.endsWith("_" + maybe)) {
        return MAYBE;
      }
    }
    return ORDINARY;
  }

  private static boolean isKey(String words) {
    if (!words.endsWith("key")) {
      return false;
    }
    String before = words.substring(0, words.length() - 3);
    String which = before.endsWith("_") ? before.substring(0, before.length() - 1) : before;
    return endsWithAny(which, KEYS);
  }

  private static boolean endsWithAny(String words, List<String> ends) {
    return ends.stream().anyMatch(words::endsWith);
  }

  /** snake_case, whatever it was. */
  private static String words(CharSequence name) {
    StringBuilder words = new StringBuilder(name.length() + 8);
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean upper = Character.isUpperCase(c);
      boolean afterLower = i > 0 && Character.isLowerCase(name.charAt(i - 1));
      boolean afterUpper = i > 0 && Character.isUpperCase(name.charAt(i - 1));
      boolean beforeLower = i + 1 < name.length() && Character.isLowerCase(name.charAt(i + 1));
      if (upper && (afterLower || (afterUpper && beforeLower))) {
        words.append('_');
      }
      words.append(Alphabet.ALNUM.has(c) ? c : '_');
    }
    return words.toString().toLowerCase(Locale.ROOT);
  }

  private static String essence(String words) {
    String rest = words;
    while (!rest.isEmpty() && (rest.endsWith("_") || Alphabet.DIGIT.has(last(rest)))) {
      rest = rest.substring(0, rest.length() - 1);
    }
    for (String end : MEANINGLESS_ENDS) {
      if (rest.endsWith(end)) {
        return rest.substring(0, rest.length() - end.length());
      }
    }
    return rest;
  }

  private static char last(String text) {
    return text.charAt(text.length() - 1);
  }
}
