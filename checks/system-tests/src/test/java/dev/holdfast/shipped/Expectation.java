package dev.holdfast.shipped;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a document says that a command prints, compared with what it printed.
 *
 * <p>Every word has to be there. Times, durations, sizes, process ids, ports, versions and random
 * names differ from run to run, so that any of the same form will do. An id of a job stands for one
 * job throughout the document. How wide a column is does not matter. Where the document has {@code
 * …} or {@code ...} there may be anything: any text within a line, any number of lines where it
 * stands alone.
 */
final class Expectation {
  private static final String UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

  /** What differs from run to run, the longer before the shorter. */
  private static final List<String> OPEN =
      List.of(
          "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|\\+\\d\\d)",
          // The numbers of events: how many reports of progress came before is a matter of time.
          "\\d\\d:\\d\\d:\\d\\d\\.\\d{3} +\\d+",
          "\\d\\d:\\d\\d:\\d\\d",
          "\\d+(\\.\\d+)? (ms|s|min|h|d)( \\d+ (s|min|h))?(?![\\w])",
          "\\d+ %",
          "\\d+(\\.\\d+)? [kMGTP]?B(?![\\w])",
          "(?<=@)[\\w-]+\\.\\d+\\.\\w+",
          "(?<=(127\\.0\\.0\\.1|localhost):)\\d+",
          "(?<=\\bpid\"?[: ]{1,2})\\d+",
          "(?<=\\b(healthy|starting|paused) {1,20})\\d+",
          "hf_[0-9a-f]{12}_\\w+",
          "(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])",
          "(?<![0-9a-f])[0-9a-f]{12}(-\\d+)?(?![0-9a-f])",
          "(?<=PostgreSQL )\\d+[\\d.]*",
          "(?<=\\bholdfast )\\d+\\.\\d+\\.\\d+[\\w-]*",
          "(?<=\\bjava )\\d+[\\d.+\\w-]*",
          "(?<=, schema |\\(version )\\d+",
          "(?<=\\bcurl-)[\\w.-]+-\\d+");

  private static final Pattern TOKEN =
      Pattern.compile("(?<any>…|\\.\\.\\.)|(?<uuid>" + UUID + ")|(?<space>\\s+)" + numbered(OPEN));
  private static final String UNSAFE =
      "(?m)^WARNING: (.*\\bsun\\.misc\\.Unsafe\\b.*|Please consider reporting this .*)\n";
  private static final Pattern BAR = Pattern.compile("\\[[█·]+\\] \\d+ %.*");

  private static String numbered(List<String> open) {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < open.size(); i++) {
      all.append("|(?<open").append(i).append('>').append(open.get(i)).append(')');
    }
    return all.toString();
  }

  private final List<String> expected;
  private final boolean more;

  private Expectation(List<String> expected, boolean more) {
    this.expected = expected;
    this.more = more;
  }

  /** Of a command that ends: these lines and no others. */
  static Expectation exactly(List<String> lines) {
    return new Expectation(withoutEnd(lines), false);
  }

  /** Of one that goes on: these lines in this order, perhaps with others between them. */
  static Expectation among(List<String> lines) {
    return new Expectation(withoutEnd(lines), true);
  }

  private static List<String> withoutEnd(List<String> lines) {
    int end = lines.size();
    while (end > 0 && lines.get(end - 1).isBlank()) {
      end--;
    }
    return lines.subList(0, end);
  }

  /** The ids that are known after it, if it is as expected; those before it are given. */
  Optional<Map<String, String>> match(List<String> actual, Map<String, String> ids) {
    return match(0, withoutEnd(actual), ids);
  }

  private Optional<Map<String, String>> match(
      int at, List<String> actual, Map<String, String> ids) {
    if (at == expected.size()) {
      boolean over = more || actual.stream().allMatch(Expectation::isBar);
      return over ? Optional.of(ids) : Optional.empty();
    }
    String line = expected.get(at);
    boolean gap = line.strip().equals("…") || line.strip().equals("...");
    for (int i = 0; i <= actual.size(); i++) {
      Optional<Map<String, String>> rest = Optional.empty();
      if (gap) {
        rest = match(at + 1, actual.subList(i, actual.size()), ids);
      } else if (i < actual.size()) {
        List<String> behind = actual.subList(i + 1, actual.size());
        rest = matchLine(line, actual.get(i), ids).flatMap(known -> match(at + 1, behind, known));
      }
      // A bar is drawn again and again over itself; the document shows one of them, or none.
      boolean skips = gap || more || i < actual.size() && isBar(actual.get(i));
      if (rest.isPresent() || !skips) {
        return rest;
      }
    }
    return Optional.empty();
  }

  private static boolean isBar(String line) {
    return BAR.matcher(line.strip()).matches();
  }

  private static Optional<Map<String, String>> matchLine(
      String expected, String actual, Map<String, String> ids) {
    Map<String, String> known = new HashMap<>(ids);
    List<String> fresh = new ArrayList<>();
    Matcher found = pattern(expected.strip(), ids, fresh).matcher(actual.strip());
    if (!found.matches()) {
      return Optional.empty();
    }
    for (int i = 0; i < fresh.size(); i++) {
      known.put(fresh.get(i), found.group("id" + i));
    }
    return Optional.of(known);
  }

  private static Pattern pattern(String line, Map<String, String> ids, List<String> fresh) {
    if (isBar(line)) {
      return Pattern.compile("\\[[█·]+\\] \\d+ %" + Pattern.quote(line.replaceFirst(".*%", "")));
    }
    StringBuilder regex = new StringBuilder();
    Matcher token = TOKEN.matcher(line);
    int end = 0;
    while (token.find()) {
      regex.append(Pattern.quote(line.substring(end, token.start())));
      regex.append(regexOf(token, ids, fresh));
      end = token.end();
    }
    return Pattern.compile(regex.append(Pattern.quote(line.substring(end))).toString());
  }

  private static String regexOf(Matcher token, Map<String, String> ids, List<String> fresh) {
    if (token.group("any") != null) {
      return ".*";
    }
    if (token.group("space") != null) {
      return "\\s+";
    }
    String id = token.group("uuid");
    if (id != null) {
      if (ids.containsKey(id)) {
        return Pattern.quote(ids.get(id));
      }
      if (fresh.contains(id)) {
        return "\\k<id" + fresh.indexOf(id) + ">";
      }
      fresh.add(id);
      return "(?<id" + (fresh.size() - 1) + ">" + UUID + ")";
    }
    for (int i = 0; i < OPEN.size(); i++) {
      if (token.group("open" + i) != null) {
        return "(" + OPEN.get(i).replace("(?<![0-9a-f])", "").replace("(?![0-9a-f])", "") + ")";
      }
    }
    throw new IllegalStateException(token.group());
  }

  /**
   * As a terminal shows it: what is drawn over is a line of its own, colours are left out. So is
   * what some versions of Java have to say about some versions of Maven.
   */
  static List<String> lines(String output) {
    List<String> all = new ArrayList<>();
    String text = output.replaceAll("\u001b\\[[0-9;]*m", "").replaceAll(UNSAFE, "");
    for (String line : text.split("\n", -1)) {
      List<String> drawn =
          line.indexOf('\r') < 0
              ? List.of(line)
              : List.of(line.split("\r")).stream().filter(part -> !part.isBlank()).toList();
      all.addAll(drawn);
    }
    return withoutEnd(all);
  }
}
