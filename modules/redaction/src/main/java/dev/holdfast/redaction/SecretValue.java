package dev.holdfast.redaction;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Whether what follows a secret's name is one. Looks at a bounded beginning of it only, so the
 * patterns here cannot take long.
 */
final class SecretValue {
  private static final Set<String> WORDS =
      Set.of(
          ("null nil none true false undefined unknown empty yes no on off n/a na tbd todo"
                  + " required missing invalid expired incorrect wrong rejected accepted changed ok"
                  + " failed denied revoked present absent unset set disabled enabled default hidden"
                  + " masked redacted protected encrypted optional mandatory"
                  + " string str &str text varchar char bytes int integer boolean bool any object"
                  + " password passwd secret token apikey credential credentials basic bearer digest"
                  + " to for is or and the a an of in at by as if it was were are be not with"
                  + " from must should may can cannot will has have option flag argument instead"
                  + " does did before after when while which that this")
              .split(" "));
  private static final Pattern PLACEHOLDER =
      Pattern.compile(
          "\\$\\{.*|\\$\\(.*|\\$[A-Z_][A-Z0-9_]*|\\{\\{.*|#\\{.*|<[^>]*>?|%[a-zA-Z]|%\\(\\w+\\)s"
              + "|%\\w+%|@\\w+@|[({](?:[\"'{(].*)?|\\{\\w*\\}|\\[[A-Za-z ]*\\]|[*.•]+|process\\.env.*|os\\.environ.*");
  private static final Pattern CALL =
      Pattern.compile("(?:new )?[A-Za-z_$][\\w$.:<>]*\\([^)]*\\).*|[A-Za-z_$][\\w$.]*\\($");
  private static final Pattern MEMBER =
      Pattern.compile("[A-Za-z_$][A-Za-z_$]*(?:\\.[A-Za-z_$]+)+;?|[A-Za-z_$][\\w$]*;");
  private static final Pattern PLACE = Pattern.compile(".*\\.[A-Za-z]{1,6}:\\d.*");
  private static final List<String> FOLDERS =
      List.of(
          "./",
          "../",
          "~/",
          "/home/",
          "/Users/",
          "/tmp/",
          "/var/",
          "/etc/",
          "/run/",
          "/opt/",
          "/usr/",
          "/root/",
          "/mnt/",
          "/srv/",
          "/app/",
          "/data/",
          "/secrets/",
          "/proc/",
          "/dev/",
          "C:\\",
          "file:",
          "http://",
          "https://",
          "arn:",
          "vault:");
  private static final int LONG = 20;
  private static final int SHORT = 8;

  private SecretValue() {}

  /** Stands for a secret, but is none: a variable, a mask. */
  static boolean isPlaceholder(String value) {
    return PLACEHOLDER.matcher(value).matches();
  }

  static boolean isOrdinary(String value) {
    return value.isEmpty()
        || WORDS.contains(value.toLowerCase(Locale.ROOT))
        || isPlaceholder(value)
        || value.chars().noneMatch(Character::isLetterOrDigit);
  }

  static boolean isPlace(String value) {
    return FOLDERS.stream().anyMatch(value::startsWith);
  }

  static boolean isCode(String value) {
    return CALL.matcher(value).matches();
  }

  static boolean isMember(String value) {
    return MEMBER.matcher(value).matches();
  }

  static boolean isNumberShorterThan(int digits, String value) {
    return value.length() < digits && value.chars().allMatch(Character::isDigit);
  }

  /** As chance would write it, not people. */
  static boolean looksRandom(String value) {
    boolean digit = value.chars().anyMatch(Character::isDigit);
    boolean letter = value.chars().anyMatch(Character::isLetter);
    boolean cases =
        value.chars().anyMatch(Character::isUpperCase)
            && value.chars().anyMatch(Character::isLowerCase);
    boolean oneWord = value.indexOf('.') < 0 && value.indexOf(' ') < 0;
    return value.indexOf('(') < 0
        && ((value.length() >= SHORT && digit && letter && !PLACE.matcher(value).matches())
            || (value.length() >= LONG && cases && oneWord));
  }
}
