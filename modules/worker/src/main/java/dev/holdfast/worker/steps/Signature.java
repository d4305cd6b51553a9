package dev.holdfast.worker.steps;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * What a failure says, without what differs each time: two failures are alike if their signatures
 * are equal. Looks at the last 40 lines, at most 8 Ki characters. It keeps words: they are scrubbed
 * before they are normalised, when secrets still have their form, and again when nothing is changed
 * any more.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Signature {
  private static final int MOST_LINES = 40;
  private static final int MOST_CHARACTERS = 8 << 10;
  // Before it is normalised, so that the window does not depend on the length of numbers and paths.
  private static final int MOST_READ = 32 << 10;
  private static final int LONGEST_TITLE = 120;
  private static final int HASH_BYTES = 8;
  private static final String NO_WORDS = "(no words)";

  private static final Pattern PROGRESS =
      Pattern.compile(
          "(?:remote: )?(?:Downloading|Downloaded|Progress|Fetching|Extracting|Pulling|Unpacking"
              + "|(?:Receiving|Counting|Compressing|Writing|Enumerating|Unpacking) objects"
              + "|Resolving deltas)\\b.*+");
  private static final Pattern PLACEHOLDER = Pattern.compile("<(?:n|time|path|tmp)>");
  private static final Pattern FRAME = Pattern.compile("(?:at \\S.*+|\\.\\.\\. <n> more)");

  private static final String MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*";
  private static final String CLOCK = "\\d{1,2}:\\d{2}:\\d{2}(?:[.,]\\d++)?(?: ?[AP]M\\b)?";
  private static final String ZONE =
      "(?: ?(?:Z|UTC|GMT|CES?T|[ECMP][SD]T)\\b| ?[+-]\\d{2}:?\\d{2}\\b)?";
  private static final String NUMBER = "\\d++(?:[.,_]\\d++)*+(?:[eE][-+]?\\d++)?";
  private static final String UNIT =
      "(?:%|(?: ?(?:[nuµm]s|s|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|[kKMGT]i?B|bytes?|B)"
          + "|[mhd])(?![A-Za-z_]))?+";

  private record Rewrite(Pattern pattern, String replacement) {
    static Rewrite of(String pattern, String replacement) {
      return new Rewrite(Pattern.compile(pattern), replacement);
    }
  }

  /** In this order: what is replaced first is not mistaken for something simpler. */
  private static final List<Rewrite> REWRITES =
      List.of(
          Rewrite.of(
              "\\b\\d{4}[-/]\\d{2}[-/]\\d{2}(?:[T ]\\d{2}:\\d{2}(?:[:.,]\\d++)*+)?" + ZONE,
              "<time>"),
          Rewrite.of(
              "\\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?"
                  + MONTH
                  + " {1,2}\\d{1,2}\\b(?:,? \\d{4}\\b)?",
              "<time>"),
          Rewrite.of(
              "\\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?\\d{1,2}[ /-]"
                  + MONTH
                  + "[ /-]\\d{4}\\b",
              "<time>"),
          Rewrite.of("\\b\\d{1,2}[/.]\\d{1,2}[/.]\\d{4}\\b", "<time>"),
          Rewrite.of("\\b" + CLOCK + ZONE + "(?: \\d{4}\\b)?", "<time>"),
          Rewrite.of("<time>(?:[ ,:T-]{1,3}<time>)++", "<time>"),
          Rewrite.of("\\bfile:/++(?:[^\\s/:\"'<>()]++/)*+", "<path>/"),
          Rewrite.of("(?<![\\w:/.<>-])/(?:[^\\s/:\"'<>()]++/)++", "<path>/"),
          Rewrite.of("\\b[A-Za-z]:\\\\(?:[^\\s\\\\:\"'<>()]++\\\\)++", "<path>/"),
          Rewrite.of("\\btmp(?:\\.[A-Za-z0-9]{6,12}|[a-z0-9_]{8})\\b", "<tmp>"),
          Rewrite.of("\\b\\p{XDigit}{8}-(?:\\p{XDigit}{4}-){3}\\p{XDigit}{12}\\b", "<n>"),
          Rewrite.of("\\b0[xX]\\p{XDigit}++", "<n>"),
          Rewrite.of("@\\p{XDigit}{4,16}\\b", "@<n>"),
          Rewrite.of("\\b(?:\\p{XDigit}{1,4}:){3,7}:?\\p{XDigit}{1,4}\\b|\\[::1?]", "<n>"),
          Rewrite.of("\\b(?=[0-9a-f]{0,63}[a-f])(?=[0-9a-f]{0,63}\\d)[0-9a-f]{7,64}\\b", "<n>"),
          Rewrite.of("\\b(?=[0-9A-F]{0,63}[A-F])(?=[0-9A-F]{0,63}\\d)[0-9A-F]{7,64}\\b", "<n>"),
          Rewrite.of("\\bPT(?:\\d++(?:\\.\\d++)?[HMS])++", "<n>"),
          Rewrite.of(
              "(\\$Proxy|MethodAccessor|[Tt]hread|[Ww]orker|\\b[Pp]id|\\bPID)#?\\d++", "$1<n>"),
          Rewrite.of("(?<![\\w.)])[-+](?=\\d)", ""),
          Rewrite.of("(?<![A-Za-z_\\d])(?:" + NUMBER + UNIT + ")++", "<n>"),
          Rewrite.of("<n>(?: <n>)++", "<n>"),
          Rewrite.of("\\s++", " "));

  private Signature() {}

  /**
   * Its last telling line, readable, and a hash of all of it.
   *
   * @param scrub makes plain text of it, too
   */
  public static String of(String failureText, UnaryOperator<String> scrub) {
    String normalised = String.join("\n", lines(scrub.apply(failureText)));
    String scrubbed = scrub.apply(normalised);
    return title(scrubbed.lines().toList()) + " #" + hash(scrubbed);
  }

  private static Deque<String> lines(String text) {
    boolean cut = text.length() > MOST_READ;
    String[] read = (cut ? text.substring(text.length() - MOST_READ) : text).split("\n", -1);
    Deque<String> lines = new ArrayDeque<>();
    int characters = 0;
    int first = cut && read.length > 1 ? 1 : 0;
    for (int i = read.length - 1; i >= first && lines.size() < MOST_LINES; i--) {
      String line = normalised(read[i]);
      characters += line.length();
      if (characters > MOST_CHARACTERS && !lines.isEmpty()) {
        break;
      }
      // A line that is repeated may be repeated more or less often the next time.
      if (!isProgress(line) && !line.equals(lines.peekFirst())) {
        lines.addFirst(line);
      }
    }
    return lines;
  }

  private static String normalised(String raw) {
    String line = raw;
    for (Rewrite rewrite : REWRITES) {
      line = rewrite.pattern.matcher(line).replaceAll(rewrite.replacement);
    }
    return line.strip();
  }

  private static boolean isProgress(String line) {
    return PROGRESS.matcher(line).matches()
        || PLACEHOLDER.matcher(line).replaceAll("").chars().noneMatch(Character::isLetter);
  }

  private static String title(List<String> lines) {
    for (String line : lines.reversed()) {
      if (!FRAME.matcher(line).matches()) {
        return shortened(line);
      }
    }
    return lines.isEmpty() ? NO_WORDS : shortened(lines.getLast());
  }

  private static String shortened(String line) {
    if (line.length() <= LONGEST_TITLE) {
      return line;
    }
    int end = LONGEST_TITLE - 1;
    return line.substring(0, Character.isHighSurrogate(line.charAt(end - 1)) ? end - 1 : end) + "…";
  }

  private static String hash(String text) {
    try {
      byte[] all = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
      return HexFormat.of().formatHex(all, 0, HASH_BYTES);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
